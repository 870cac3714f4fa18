# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification from poses at rest: they tell mass and centre of mass."""

from __future__ import annotations

import numpy as np

from ...estimators import create
from ...findings import Finding, sort_findings
from ...identify.conclusion import Basis, Conclusion
from ...model.history import LONGEST, History
from ...motion.motion import BIN_NS, Motion
from ...settings import Settings
from ..recordings.tables import PosesAtRest
from ..report.results import Identification

HELD, BREAK = 16, 34  # bins for which a pose is held, and after which the next one follows
START = 1_700_000_000 * 10**9 // BIN_NS  # bin of the first


def identify_poses(poses: PosesAtRest, settings: Settings) -> Identification:
    """The payload by the weight that a sensor read in poses at rest (raises InertialIdError)."""
    raise NotImplementedError
