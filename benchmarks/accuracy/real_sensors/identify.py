# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A recording through the public interface, and the row of results that comes of it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from inertial_id_ros.api import Estimate, Finding, Identifier, InertialIdError, Settings
from inertial_id_ros.apps.bag.identify_bag import read_settings_file
from inertial_id_ros.inertia import PARAMETER_NAMES

from ..records import Row
from .arms import SENSOR_FRAME
from .knowable import least_mass_sd
from .recordings import Draw, Recording, simulate
from .sources import Source

# Parts of the names of findings that blame what did not happen.
FALSE_FINDINGS = ("contact", "payload_changed", "zero_moved", "estimate_lost", "sign_wrong",
                  "frame_wrong", "load_unexplained")
KINDS = ("true", "got", "sd", "verdict")
FIELDS = ("source", "seed", "object", "arm", "motion", "speed", "seconds", "failure", "false",
          "findings", "filter_order", "filter_cutoff", "took", "least_mass_sd",
          *(f"{kind}_{n}" for kind in KINDS for n in PARAMETER_NAMES))


def settings_of(recording: Recording, changes: Mapping[str, Any], plain: bool = False) -> Settings:
    """Settings of a user who knows the payload's shape and his sensor.

    Args:
        changes: made to them; plain: leave out those of the source.
    """
    own = {} if plain else source_settings(recording.source)
    return Settings().replace({**recording.payload.hint, **own, **changes})


def source_settings(source: Source) -> dict[str, Any]:
    """Settings of a source, or those of its configuration file."""
    return {**(_config(source.config) if source.config else {}), **source.settings}


@cache
def _config(name: str) -> dict[str, Any]:
    return read_settings_file(Path(__file__).resolve().parents[3] / "config" / name)


def identifier_of(recording: Recording, changes: Mapping[str, Any],
                  plain: bool = False) -> Identifier:
    """The identifier after a whole recording, in which it solved as often as the node does, since
    what it has learnt depends on that; arguments as for `settings_of`."""
    settings = settings_of(recording, changes, plain)
    identifier = Identifier(settings)
    identifier.set_robot_description(recording.arm.urdf)
    for joints, wrenches in _between_solves(recording, settings.estimator.rate):
        identifier.add_joint_states(recording.joint_stamps[joints], recording.arm.joint_names,
                                    recording.positions[joints])
        identifier.add_wrenches(recording.wrench_stamps[wrenches], SENSOR_FRAME,
                                recording.wrench[wrenches])
        identifier.solve()
    identifier.finish()
    return identifier


def _between_solves(recording: Recording, rate: float) -> Iterator[tuple[slice, slice]]:
    """Joint states and wrenches between the solves at a rate [Hz]."""
    streams = recording.joint_stamps, recording.wrench_stamps
    first, last = min(s[0] for s in streams), max(s[-1] for s in streams)
    ticks = np.arange(first, last + 1, round(1e9 / rate))[1:]
    cuts = [[0, *np.searchsorted(stamps, ticks).tolist(), len(stamps)] for stamps in streams]
    for joints, wrenches in zip(*map(pairwise, cuts), strict=True):
        yield slice(*joints), slice(*wrenches)


def run(source: str, seed: int, draw: Draw, changes: Mapping[str, Any],
        plain: bool = False) -> Row:
    """The row of one run; arguments as for `simulate` and `settings_of`."""
    recording = simulate(source, seed, draw)
    row = {**describe(recording), "findings": "", "false": "",
           "least_mass_sd": least_mass_sd(recording), **_numbered("true", recording.truth)}
    started = time.perf_counter()
    try:
        identifier = identifier_of(recording, changes, plain)
        outcome = identifier.solve()
    except (InertialIdError, MemoryError, np.linalg.LinAlgError) as error:
        return row | {"failure": f"{type(error).__name__}: {error}"}
    findings = identifier.findings()
    row |= {**found_filter(findings), "took": time.perf_counter() - started,
            "findings": " ".join(f"{f.name}:{f.level}" for f in findings),
            "false": " ".join(f.name for f in findings if is_false(f.name))}
    if not isinstance(outcome, Estimate):
        return row | {"failure": outcome.reason}
    return {**row, **_numbered("got", outcome.report), **_numbered("sd", outcome.sigma),
            **_numbered("verdict", outcome.verdict)}


def found_filter(findings: Iterable[Finding]) -> Row:
    """Order and cut-off [Hz] of the sensor's own filter, where one was found."""
    for finding in findings:
        if finding.name == "wrench_filtered":
            order, cutoff = re.findall(r"of (first|second) order at (\S+) Hz", finding.text)[0]
            return {"filter_order": 1 + (order == "second"), "filter_cutoff": float(cutoff)}
    return {}


def describe(recording: Recording) -> Row:
    """The columns that name a run."""
    return {"source": recording.source.name, "seed": recording.seed,
            "object": recording.payload.name, "arm": recording.arm.name,
            "motion": recording.kind, "speed": recording.speed, "seconds": recording.seconds,
            "failure": ""}


def is_false(name: str) -> bool:
    """Whether a finding of this name blames what did not happen."""
    return any(part in name for part in FALSE_FINDINGS)


def _numbered(kind: str, values: Any) -> Row:
    return {f"{kind}_{n}": float(v) for n, v in zip(PARAMETER_NAMES, values, strict=True)}
