# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Accuracy of every estimator on every scenario, with its own ground truth."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "baselines"))  # a distribution of estimators
