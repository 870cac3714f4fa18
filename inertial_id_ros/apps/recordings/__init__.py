# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recorded motions, read without ROS from bags and tables: samples in the order of recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...io.decoding import StatedPayload
from ...io.inputs import Edges, Samples
from ...kinds import Finding, made
from ...model.history import History
from ...motion.motion import BIN, BIN_NS, Motion

HELD, EVERY = 90, 100  # bins for which a pose is held; after which the next one follows
START = 170_000_000_000  # bin of the first one


class PosesAtRest(NamedTuple):
    """Poses in which the sensor was at rest: rotation (n, 3, 3) to the world whose z axis points
    up, the mean wrench (n, 6) [N, N m] of each, and the name of the sensor's frame."""

    rotation: Array
    wrench: Array
    frame: str

    @property
    def seconds(self) -> float:
        """Length of `history` [s]."""
        return BIN * EVERY * (len(self.wrench) + 1)

    def history(self, sign: float) -> History:
        """A history that holds each pose for a while, so that all that is known of sensors and
        set-ups counts as for any motion; sign: of readings against W + bias."""
        n = len(self.wrench)
        number = START + (np.arange(n)[:, None] * EVERY + np.arange(HELD)).ravel()
        still = np.zeros((n * HELD, 3))
        history = History(self.seconds)
        history.append(
            Motion(number, np.repeat(self.rotation, HELD, axis=0), still, still, still, still,
                   np.empty((n * HELD, 0, 3, 3)), np.empty((n * HELD, 0, 6))),
            number * BIN_NS + BIN_NS // 2, sign * np.repeat(self.wrench, HELD, axis=0))
        return history


@dataclass(frozen=True)
class Recording:
    """What was recorded."""

    # Samples that were recorded one after the other, and what the driver stated last meanwhile.
    parts: Sequence[Sequence[Samples | StatedPayload]]
    duration: float  # of all [s]
    counts: dict[str, int]  # messages or rows, by topic or column
    description: str = ""  # URDF; empty: there is none
    fixed: tuple[Edges, ...] = ()  # poses of frames that stay
    notes: tuple[str, ...] = ()  # choices that were made for the user
    lacks: tuple[Finding, ...] = ()  # what the recording lacks
    # By topic, how many messages could not be used, and why the last could not.
    damaged: dict[str, tuple[int, str]] = field(default_factory=dict)

    def findings(self) -> tuple[Finding, ...]:
        """What deserves attention."""
        return (*self.lacks, *(made(f"message_malformed.{topic.lstrip('/')}", count=count, why=why)
                               for topic, (count, why) in self.damaged.items()))
