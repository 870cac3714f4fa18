# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What happened in a session, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ...inertia import Array
from .progress import Part, Progress
from .proof import Proof
from .row import Row


class End(NamedTuple):
    """How a session ended: exit status, and what to say."""

    status: int
    text: str


@dataclass
class Record:
    """What happened, for the report.

    Attributes:
        rows: of the checks; progress: what was known when.
        motions: what was made, in words, and how long it took [s]; 0 where a person made it.
        report: (10,) mass, centre of mass, inertia about it in `frame`; None: not identified.
        sigma: (10,) its standard deviations; stamp_ns: of its newest sample; parts: the same
            with intervals and goal.
        proof: of the payload; proof_after: of the driver's own wrench, once it subtracts it.
        applied: what the robot was told, in words; saved: name of the saved estimate.
        truth: (10,) of a simulated arm, like `report`.
    """

    rows: tuple[Row, ...] = ()
    progress: list[Progress] = field(default_factory=list)
    motions: list[tuple[str, float]] = field(default_factory=list)
    report: Array | None = None
    sigma: Array | None = None
    parts: tuple[Part, ...] = ()
    frame: str = ""
    stamp_ns: int = 0
    proof: Proof | None = None
    proof_after: Proof | None = None
    applied: str = ""
    saved: str = ""
    truth: Array | None = None
