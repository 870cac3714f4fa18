# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The ROS shell: the only part of the package that imports rclpy or message types."""
