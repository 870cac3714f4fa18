# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Optimisation that knows no payloads: cones, quadratic programs, nonnegative least squares."""
