# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Offline identification of recorded motions, without a ROS installation."""
