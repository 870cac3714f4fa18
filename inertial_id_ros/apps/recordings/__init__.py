# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of motion and load: bags and tables, without a ROS installation."""
