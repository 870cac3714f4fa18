# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions that identify inertial parameters: arm model, limits, the next motion, excitation."""
