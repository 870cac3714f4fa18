# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of which data count: the rolling buffer, contact, and changes of the payload."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import setting


@dataclass(frozen=True)
class BufferSettings:
    window: float = setting(30.0, "Length of the rolling buffer.", unit="s", low=0.5, high=3600.0)
    slice: float = setting(
        0.25, "Length of the slices by which the buffer forgets; at least window / 512.",
        unit="s", low=0.05, high=5.0)


@dataclass(frozen=True)
class ContactSettings:
    """Intervals that do not fit the estimate so far are left out."""

    detect: bool = setting(
        True, "Leave out intervals in which the environment touches the payload.")
    enter: float = setting(
        6.0, "Residual from which on samples are left out, in standard deviations of what is "
        "expected.", low=2.0, high=100.0)
    leave: float = setting(
        4.0, "Residual below which samples are taken again, in the same unit.", low=1.0,
        high=100.0)
    hold: float = setting(
        0.2, "Time for which the residual must have been that small.", unit="s", low=0.0,
        high=10.0)
    longest: float = setting(
        120.0, "Time after which the estimate, not the contact, is taken to be wrong: all that was "
        "learnt is forgotten. Where the wrench follows the motion in another way than before, that "
        "is found within seconds of motion.", unit="s", low=1.0, high=3600.0)


@dataclass(frozen=True)
class ChangeSettings:
    """A payload that is gripped or released, or a sensor that is zeroed, flushes the buffer."""

    detect: bool = setting(
        True, "Flush the buffer when the payload or the zero of the sensor has changed.")
    steady: float = setting(
        0.1, "Time for which a change must explain the wrench before it counts; longer by itself "
        "for one that comes slowly.", unit="s", low=0.04, high=3.0)
    fit: float = setting(
        1.5, "Largest residual that a change may leave, in standard deviations of the noise.",
        low=0.1, high=100.0)
