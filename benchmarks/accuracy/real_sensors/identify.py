"""A recording through the public interface, and the row of results that comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inertial_id_ros.api import Estimate, Identifier, InertialIdError, Settings
from inertial_id_ros.inertia import PARAMETER_NAMES

from ..records import Row
from .recordings import Recording, simulate

# Findings that blame the payload's surroundings, in a recording in which nothing happens.
FALSE_FINDINGS = ("contact", "doubted", "payload_changed", "zeroed", "estimate_lost",
                  "sign_wrong", "frame_wrong")


def identifier_of(recording: Recording, changes: Mapping[str, Any]) -> Identifier:
    """The identifier after a whole recording.

    Args:
        changes: settings, beside those of the payload's box and of the recording's source.
    """
    identifier = Identifier(Settings().replace(
        {**recording.payload.hint, **recording.source.settings, **changes}))
    identifier.set_robot_description(recording.arm.urdf)
    identifier.add_joint_states(recording.joint_stamps, recording.arm.joint_names,
                                recording.positions)
    identifier.add_wrenches(recording.wrench_stamps, recording.arm.sensor_frame, recording.wrench)
    identifier.finish()
    return identifier


def run(source: str, seed: int, changes: Mapping[str, Any],
        lengths: Sequence[float]) -> Row:
    """The row of one run."""
    recording = simulate(source, seed, lengths)
    row: Row = {"source": source, "seed": seed, "arm": recording.arm.name,
                "motion": recording.kind, "speed": recording.speed, "seconds": recording.seconds,
                "failure": "", "findings": "", "false": ""}
    row |= _numbered("true", recording.truth)
    started = time.perf_counter()
    try:
        identifier = identifier_of(recording, changes)
        outcome = identifier.solve()
        findings = identifier.findings()
    except (InertialIdError, MemoryError, np.linalg.LinAlgError) as error:
        return row | {"failure": f"{type(error).__name__}: {error}"}
    row["took"] = time.perf_counter() - started
    row["findings"] = " ".join(f"{f.name}:{f.level}" for f in findings)
    row["false"] = " ".join(f.name for f in findings if is_false(f.name))
    if not isinstance(outcome, Estimate):
        return row | {"failure": outcome.reason}
    row |= _numbered("got", outcome.report) | _numbered("sd", outcome.sigma)
    return row | {f"verdict_{n}": int(v) for n, v in
                  zip(PARAMETER_NAMES, outcome.verdict, strict=True)}


def is_false(name: str) -> bool:
    """Whether a finding blames what did not happen."""
    return any(part in name for part in FALSE_FINDINGS)


def _numbered(kind: str, values: Any) -> Row:
    return {f"{kind}_{n}": float(v) for n, v in zip(PARAMETER_NAMES, values, strict=True)}
