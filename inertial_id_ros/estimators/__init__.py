# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Estimators of the inertial parameters of one body, each in the module of its name."""

from .base import Estimator, Solution, create

__all__ = ["Estimator", "Solution", "create"]
