# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recorded motions, read without ROS from bags and tables: samples in the order of recording."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ...errors import InertialIdError, RecordingError
from ...io.inputs import Edges, Samples, StatedPayload
from ...kinds import Finding


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
    findings: tuple[Finding, ...] = ()  # what deserves attention


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
