# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions that show inertial parameters: Fourier series, optimised within the robot's limits."""
