# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an application does to the node itself: its wrench may lack the payload from then on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
from rclpy.parameter import Parameter

from ...errors import InvalidData
from ...identification.wrench.identifier import Identifier
from ...settings import Settings
from ...targets.target import Target, TargetPayload
from ..compensation import CompensationTopics
from ..estimation import Estimation
from ..services.saving import CannotSave, StateKeeper
from ..settings.settings_node import SettingsNode
from .gates import changes_wrench, removes_from_wrench

Values: TypeAlias = dict[str, float | list[float]]  # of precompensated.*, by name
_SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change


def consequences(target: Target, settings: Settings) -> list[str]:
    """What the user must know of what follows, one sentence each."""
    if not changes_wrench(target, settings):
        return []
    notes = ["the node forgets its data, since its wrench changes with that"]
    source = settings.precompensated.source
    if target.needs_limits:
        notes.append(
            "precompensated.mass, .com and .inertia follow" if follows(target, settings) else
            "the driver removes this payload from its wrench from now on, and the node does not "
            "read that back: set precompensated.mass, .com and .inertia to it (apply.follow does), "
            "or precompensated.source, before the next estimate" if source == "settings" else
            f"the payload that the driver removes is read back (precompensated.source '{source}') "
            "and counted once")
    return notes


def follows(target: Target, settings: Settings) -> bool:
    """Whether precompensated.* become what the target was told."""
    return (settings.apply.follow and settings.precompensated.source == "settings"
            and removes_from_wrench(target, settings))


def removed_values(payload: TargetPayload, left_out: Sequence[str]) -> Values:
    """precompensated.mass, .com and .inertia of a payload in the sensor frame.

    Args:
        left_out: what the target was not told of it, in words.
    """
    tensor = payload.inertia[np.triu_indices(3)]
    if not payload.inertia_is_known or any("inertia" in text for text in left_out):
        tensor = np.zeros(6)
    return {"mass": payload.mass, "com": payload.com, "inertia": tensor.tolist()}


def replace_removed(node: SettingsNode, values: Values) -> Values:
    """Set precompensated.* ; gives those before. In the executor's thread.

    Raises:
        InvalidData: they cannot be set, and why.
    """
    before = {name: getattr(node.settings.precompensated, name) for name in values}
    result = node.set_parameters_atomically([
        Parameter(f"precompensated.{name}", value=value) for name, value in values.items()])
    if not result.successful:
        raise InvalidData(f"precompensated.* cannot follow: {result.reason}")
    return {name: value if isinstance(value, float) else list(value)
            for name, value in before.items()}


@contextmanager
def changing_wrench(estimation: Estimation, compensation: CompensationTopics, name: str,
                    target: Target, settings: Settings) -> Iterator[Callable[[], None]]:
    """While a target is told a payload, publish no compensated wrench, since nobody knows from
    which sample on the driver removes the payload itself.

    Yields:
        what to call as soon as the target may have taken it: the data from before are forgotten,
        and at the end, not before the wrench has settled, those from meanwhile.
    """
    if not changes_wrench(target, settings):
        yield lambda: None
        return
    taken: list[float] = []

    def reset() -> None:
        estimation.identifier.reset(f"a payload was applied to {name}")
        if isinstance(estimation.identifier, Identifier):
            _drop_tare(estimation.state, estimation.identifier)
        estimation.solve_after_change()

    def forget() -> None:
        taken.append(time.monotonic())
        estimation.worker.post(reset)

    def resume() -> None:
        if taken:
            reset()  # first: what is given next must not be what was known before
        compensation.withhold("")

    compensation.withhold(f"a payload is being applied to {name}")
    try:
        yield forget
        if taken:
            time.sleep(max(0.0, taken[0] + _SETTLING - time.monotonic()))
    finally:
        estimation.worker.post(resume)


def _drop_tare(state: StateKeeper, identifier: Identifier) -> None:
    """Drop the tare, which was of the zero before: UR zeroes its sensor, too; in the worker."""
    try:
        identifier.untare(state.keep)
    except CannotSave:  # which a finding says
        identifier.untare()
