# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What no cause explains: intervals widen by its share of the load, and a large one is named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.rows import Rows
from ..model.sheet import Sheet
from ..motion.motion import BIN, Array
from .fit import Fit

_USUAL = 2.0  # times the data sheet; what is more is unknown
_NAMED = (5.0, 0.1)  # times the data sheet, and share of the load


class Unknown(NamedTuple):
    """Deviations of force and torque (2,) that no term explains, [N] and [N m], over those of the
    data sheet, and over what the load makes."""

    size: Array
    times: Array
    share: Array

    def covariance(self, phi: Array) -> Array:
        """Of phi (10, 10): it may look like that share of any of its parts."""
        force, torque = self.share
        out = np.zeros(10)
        out[0] = force * phi[0]
        out[1:4] = torque * np.linalg.norm(phi[1:4])
        out[4:] = torque * np.abs(phi[[4, 7, 9]]).mean()
        return np.diag(out**2)

    def describe(self, rows: Rows) -> dict[str, float]:
        """Numbers for the finding; empty: too small to be named."""
        if not np.any((self.times > _NAMED[0]) & (self.share > _NAMED[1])):
            return {}
        return {"seconds": float(BIN * (rows.index[-1] - rows.index[0])),
                "force": float(self.size[0])}


def unknown(fit: Fit, sheet: Sheet) -> Unknown:
    """What the terms of a fit leave, as slow noise that its data sheet does not expect."""
    if sheet.is_ideal:
        return Unknown(*np.zeros((3, 2)))
    least = np.square(sheet.accuracy) + np.square(sheet.drift) / 4.0
    walks = np.exp(fit.log_noise[:, 2:]).sum(1)
    size = np.sqrt(np.maximum(walks - _USUAL**2 * least, 0.0))
    load = np.square(fit.rows.A @ fit.phi).reshape(-1, 2, 3).sum((0, 2)) / fit.rows.n
    return Unknown(size, np.sqrt(walks / least), size / np.sqrt(load + least))
