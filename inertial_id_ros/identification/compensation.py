"""Removes bias, weight and inertia of the payload from wrenches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..estimate import UNOBSERVED, Estimate
from ..inertia import Array
from ..regression.row_layout import correct_wrench


class CompensatedWrenches(NamedTuple):
    """Wrenches with bias, weight and inertia of the payload removed.

    Attributes:
        stamps_ns: (k,); wrench: (k, 6) [N, N m], sign of the incoming topic; frame_id.
    """

    stamps_ns: np.ndarray
    wrench: Array
    frame_id: str


def no_wrenches(frame_id: str) -> CompensatedWrenches:
    """Compensated wrenches without any sample."""
    return CompensatedWrenches(np.empty(0, np.int64), np.empty((0, 6)), frame_id)


def why_not_compensated(estimate: Estimate, age_ns: int, window: float) -> str | None:
    """Why this estimate cannot compensate wrenches; None where it can.

    Unknown inertia is no reason: motion that does not identify it hardly depends on it.

    Args:
        age_ns: of the estimate [ns]; window: length of the window [s], which bounds the age.
    """
    if UNOBSERVED in estimate.verdict[:4]:
        what = "mass" if estimate.verdict[0] == UNOBSERVED else "centre of mass"
        return f"the compensated wrench is silent: the {what} is not identified yet"
    if age_ns > int(window * 1e9):
        return ("the compensated wrench is silent: the estimate is held for longer than "
                f"buffer.window, {window:g} s")
    return None


def compensate(a: Array, y: Array, estimate: Estimate, carried: Array, sign: float) -> Array:
    """Wrenches (k, 6) without bias and load, with the sign of the topic [N, N m].

    Args:
        a: regressors (k, 6, 10).
        y: wrenches (k, 6) with the sign of ``A phi``.
        estimate: of which bias and alignment are used.
        carried: phi (10,) of all that the sensor carries.
        sign: of the reading against ``A phi``.
    """
    measured = correct_wrench(y - sign * estimate.bias, estimate.alignment)
    return sign * (measured - a @ carried)
