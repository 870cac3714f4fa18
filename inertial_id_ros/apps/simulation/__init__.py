# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A simulated cobot with a wrist force-torque sensor, for the demo and for tests (no ROS here)."""
