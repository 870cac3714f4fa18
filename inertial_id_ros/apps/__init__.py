# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Programs without ROS, a room each: recordings, robots, planned motions, a simulated cobot."""
