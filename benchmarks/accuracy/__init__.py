# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Accuracy of every estimator on every scenario, with its own ground truth."""
