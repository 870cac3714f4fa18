# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What leads a person from an unknown load to a robot that knows it, as far as it needs no ROS."""
