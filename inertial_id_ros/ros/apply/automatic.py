# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""When a payload is applied that nobody has asked to apply (apply.automatic)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...identification.verdict import COM_LENGTH, COM_SHARE, MASS_SHARE
from ...settings import Settings
from ...targets.target import Gate, Payload, Target
from .consequences import removes_from_wrench
from .history import is_undo


def is_news(payload: Payload | None, last: Mapping[str, Any] | None) -> bool:
    """Whether a payload differs from what its target was told last by more than a verdict allows.

    Args:
        last: the newest entry of the history about the target. Where it is an undo, somebody did
            not want the payload: nothing is news then.
    """
    if payload is None or last is None:
        return payload is not None
    if is_undo(last) or last.get("mass") is None:
        return not is_undo(last)
    mass, com = float(last["mass"]), np.asarray(last["com"], dtype=float)
    moved = float(np.linalg.norm(np.asarray(payload.com) - com))
    return (abs(payload.mass - mass) > MASS_SHARE * mass
            or moved > max(COM_LENGTH, COM_SHARE * float(np.linalg.norm(com))))


def automatic_gate(target: Target, settings: Settings) -> Gate:
    """Whether the next estimate would be of the whole payload again."""
    closed = removes_from_wrench(target, settings) and settings.precompensated.source == "settings"
    return Gate("automatic", "apply.automatic needs precompensated.source to read back what the "
                "driver removes; it is 'settings'" if closed else "")
