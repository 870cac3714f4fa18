# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the settings make of the load that is known: what is removed, and why."""

from __future__ import annotations

from dataclasses import replace

from ...settings.node import CompensationSettings
from .load_in_use import LoadInUse, Mode


def apply_policy(settings: CompensationSettings, use: LoadInUse) -> LoadInUse:
    """The load in use where the settings say what to do about an unknown payload."""
    if use.mode is Mode.TOOL and settings.unknown_payload == "silent":
        return use.silenced(use.reason)
    return use


def apply_age(settings: CompensationSettings, use: LoadInUse, age: float) -> LoadInUse:
    """The load in use at an age of its estimate [s]; NaN: it has none."""
    if use.mode is not Mode.PAYLOAD:
        return use
    if 0.0 < settings.stop_after < age:
        return use.silenced("the estimate in use is older than compensation.stop_after, "
                            f"{settings.stop_after:g} s")
    if age > settings.max_age:
        return replace(use, reason=f"the estimate in use is older than {settings.max_age:g} s")
    return use
