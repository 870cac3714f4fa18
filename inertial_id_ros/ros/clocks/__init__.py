# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time: when to estimate, what the ROS clock does, and how old an estimate is."""
