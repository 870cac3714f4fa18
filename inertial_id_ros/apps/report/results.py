# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The result of a run over a recording: the estimate over time, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...estimate import Outcome
from ...findings import Finding
from ...geometry.shape import Shape
from ...inertia import Array
from ...regression.tool import Tool


@dataclass(frozen=True)
class Snapshot:
    """What was known at one tick.

    Attributes:
        time: since the start of the recording [s].
        findings: those at that time, where a trace is kept.
    """

    time: float
    outcome: Outcome
    findings: tuple[Finding, ...] = ()


@dataclass
class Trace:
    """Wrenches over time, for plot and report.

    Attributes:
        origin: stamp of the start of the recording [ns].
        stamps: n stamps [ns] and measured: n wrenches as recorded [N, N m].
        settled_stamps: arrays of stamps [ns] and compensated: arrays (k, 6) of wrenches, averaged
            over the pipeline's bins, with the payload's part and the bias removed [N, N m].
        poses: now and then, a stamp [ns] and the rotation (3, 3) from sensor to gravity frame.
    """

    origin: int = 0
    stamps: list[int] = field(default_factory=list)
    measured: list[tuple[float, ...]] = field(default_factory=list)
    settled_stamps: list[np.ndarray] = field(default_factory=list)
    compensated: list[Array] = field(default_factory=list)
    poses: list[tuple[int, Array]] = field(default_factory=list)


@dataclass(frozen=True)
class Identification:
    """The result of a run over a recording.

    Attributes:
        outcome: the last estimate, or why there is none.
        history: the outcome at each tick of the timer, oldest first.
        findings: of the recording, and of the pipeline at the end.
        duration: length of the recording [s].
        counts: messages read, by topic.
        frames: names of all frames in the transforms and the robot description.
        trace: wrenches over time; empty unless asked for.
        notes: choices that were made for the user.
        tool: that was taken out of the estimate; None: none.
        shape: of the object, as it was known at the end; None: not known.
    """

    outcome: Outcome
    history: tuple[Snapshot, ...]
    findings: tuple[Finding, ...]
    duration: float
    counts: dict[str, int]
    frames: frozenset[str]
    trace: Trace
    notes: tuple[str, ...]
    tool: Tool | None
    shape: Shape | None = None
