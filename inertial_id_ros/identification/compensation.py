"""Wrenches without what the sensor carries: bias, weight and inertia of the payload removed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..estimate import UNOBSERVED, Estimate
from ..inertia import Array


class CompensatedWrenches(NamedTuple):
    """Wrenches with bias, weight and inertia of the payload removed.

    Attributes:
        stamps_ns: (k,); wrench: (k, 6) [N, N m], sign of the incoming topic; frame_id.
    """

    stamps_ns: np.ndarray
    wrench: Array
    frame_id: str


def no_wrenches(frame_id: str) -> CompensatedWrenches:
    """None at all."""
    return CompensatedWrenches(np.empty(0, np.int64), np.empty((0, 6)), frame_id)


def why_silent(estimate: Estimate) -> str:
    """Why wrenches cannot be compensated by this estimate; empty where they can.

    Unknown inertia is no reason: motion that does not tell it hardly shows it.
    """
    if UNOBSERVED not in estimate.verdict[:4]:
        return ""
    what = "mass" if estimate.verdict[0] == UNOBSERVED else "centre of mass"
    return f"the compensated wrench is silent: the {what} is not identified yet"


def compensate(a: Array, y: Array, estimate: Estimate, carried: Array, sign: float) -> Array:
    """Readings (k, 6) without bias and load, in the sign of the topic [N, N m].

    Args:
        a: regressors (k, 6, 10); y: wrenches (k, 6), sign as `A phi`.
        carried: phi (10,) of all that hangs on the sensor; sign: of reading against ``A phi``.
    """
    measured = y - sign * estimate.bias
    turn = estimate.alignment[:3]
    measured -= np.concatenate(
        [np.cross(measured[:, :3], turn), np.cross(measured[:, 3:], turn)], axis=1)
    return sign * (measured - a @ carried)
