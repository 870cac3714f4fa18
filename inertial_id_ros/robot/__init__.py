# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whole robots from joint torques: regressor, recordings, base parameters, constraints, fits, robot
files. The program over them is in `apps`."""
