# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from a recording: reading, report, URDF and robot file."""
