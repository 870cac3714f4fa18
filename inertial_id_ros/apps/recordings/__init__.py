# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recorded motions as arrays: what bags, tables and simulations give, and programs take."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

import numpy as np

from ...errors import InertialIdError, RecordingError
from ...io.inputs import Edges, JointStates, Samples, StatedPayload
from ...kinds import Finding

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Recording:
    """What was recorded, or simulated."""

    # Samples that were recorded one after the other, and what the driver stated last meanwhile.
    parts: Sequence[Sequence[Samples | StatedPayload]]
    duration: float  # of all [s]
    counts: dict[str, int] = field(default_factory=dict)  # messages or rows, by topic or column
    description: str = ""  # URDF; empty: there is none
    fixed: tuple[Edges, ...] = ()  # poses of frames that stay
    notes: tuple[str, ...] = ()  # choices that were made for the user
    findings: tuple[Finding, ...] = ()  # what deserves attention
    rests: bool = False  # True: each sample is the mean of a pose at rest, its stamp a number

    def of_kind(self, kind: type[Kind]) -> list[Kind]:
        """All samples of a kind, in the order of recording."""
        return [some for some in chain.from_iterable(self.parts) if isinstance(some, kind)]

    @property
    def joints(self) -> JointStates:
        """All joint states as one block, NaN where a message lacks a joint, or its effort."""
        blocks = self.of_kind(JointStates)
        if len(blocks) == 1:  # perhaps without names
            return blocks[0]
        names = tuple(dict.fromkeys(name for block in blocks for name in block.names))
        stamps = np.concatenate([np.empty(0, np.int64), *(block.stamps for block in blocks)])
        rows, end = np.full((2, len(stamps), len(names)), np.nan), 0
        for block in blocks:
            begin, end = end, end + len(block.stamps)
            for row, values in zip(rows, (block.positions, block.efforts), strict=True):
                if values is not None and values.shape[1] == len(block.names):
                    row[begin:end, [names.index(name) for name in block.names]] = values
        return JointStates(stamps, names, *rows)


@contextmanager
def one_error(what: str) -> Iterator[None]:
    """Errors within as one RecordingError: damaged files and messages raise many kinds."""
    try:
        yield
    except InertialIdError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
        raise RecordingError(f"{what}: {reason}") from error
