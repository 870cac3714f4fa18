# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an application does to the node itself: its wrench may lack the payload from then on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from rclpy.parameter import Parameter

from ...errors import InvalidData
from ...identification.wrench.identifier import Identifier
from ...settings import Settings
from ...targets.target import Gate, Payload, Reading, Target
from ..services.saving import CannotSave
from .history import History

if TYPE_CHECKING:
    from ..node import InertialIdNode

Values: TypeAlias = dict[str, float | list[float]]  # of precompensated.*, by name
_LEAST = 1e-3  # kg; less is no payload
_SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change
_SHARE = 0.01  # by which two masses that are meant to be the same may differ


def removal_gate(name: str, target: Target, settings: Settings, told: Reading | None, silent: str,
                 history: History) -> Gate:
    """Whether the estimate is of all that hangs on the arm: a driver that has a payload already
    removes it from its wrench, and what is left of it must not replace the whole.

    Args:
        told: what the target has now, as far as it tells.
        silent: name of the topic on which it should tell that; empty: it speaks, or there is none.
    """
    removed = settings.precompensated
    if not removes_from_wrench(target, settings) or removed.source != "settings":
        return Gate("removed_payload")
    if silent:
        return Gate("removed_payload",
                    f"nothing is heard on '{silent}' (or its type is not installed here), so that "
                    "it is not known which payload the driver removes from its wrench; set "
                    "apply.topic, or precompensated.source 'none' for a sensor of its own")
    last = history.last(name)
    if told is not None:
        mass, says = float(told.values["mass"]), "tells"
    elif last is not None:
        mass, says = float(last.get("mass") or 0.0), "was told"
    else:  # only the settings say it
        return Gate("removed_payload")
    if abs(mass - removed.mass) <= max(_LEAST, _SHARE * mass):
        return Gate("removed_payload")
    return Gate("removed_payload",
                f"the robot {says} a payload of {mass:.3f} kg, which its driver removes from its "
                f"wrench, and precompensated.mass is {removed.mass:.3f} kg, so that the estimate "
                "is not of the whole; set precompensated.source to read it back, or .mass, .com "
                "and .inertia, or source 'none' for a sensor of its own")


def consequences(target: Target, settings: Settings) -> list[str]:
    """What the user must know of what follows, one sentence each."""
    if not _changes_wrench(target, settings):
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


def removed_values(payload: Payload, left_out: Sequence[str]) -> Values:
    """precompensated.mass, .com and .inertia of a payload in the sensor frame.

    Args:
        left_out: what the target was not told of it, in words.
    """
    tensor = payload.inertia[np.triu_indices(3)]
    if not payload.inertia_is_known or any("inertia" in text for text in left_out):
        tensor = np.zeros(6)
    return {"mass": payload.mass, "com": payload.com, "inertia": tensor.tolist()}


def replace_removed(node: InertialIdNode, values: Values) -> Values:
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
def changing_wrench(node: InertialIdNode, name: str, target: Target,
                    settings: Settings) -> Iterator[Callable[[], None]]:
    """While a target is told a payload, publish no compensated wrench, since nobody knows from
    which sample on the driver removes the payload itself.

    Yields:
        what to call as soon as the target may have taken it: the data from before are forgotten,
        and at the end, not before the wrench has settled, those from meanwhile.
    """
    if not _changes_wrench(target, settings):
        yield lambda: None
        return
    taken: list[float] = []

    def reset() -> None:
        node.identifier.reset(f"a payload was applied to {name}")
        if isinstance(node.identifier, Identifier):
            _drop_tare(node, node.identifier)
        node.solve_after_change()

    def forget() -> None:
        taken.append(time.monotonic())
        node.worker.post(reset)

    def resume() -> None:
        if taken:
            reset()  # first: what is given next must not be what was known before
        node.compensation.withhold("")

    node.compensation.withhold(f"a payload is being applied to {name}")
    try:
        yield forget
        if taken:
            time.sleep(max(0.0, taken[0] + _SETTLING - time.monotonic()))
    finally:
        node.worker.post(resume)


def _drop_tare(node: InertialIdNode, identifier: Identifier) -> None:
    """Drop the tare, which was of the zero before: UR zeroes its sensor, too; in the worker."""
    try:
        identifier.untare(node.state.keep)
    except CannotSave:  # which a finding says
        identifier.untare()


def _changes_wrench(target: Target, settings: Settings) -> bool:
    """Whether the wrench that the node receives changes with what the target is told: a driver of
    which the settings say that it removes a payload will remove the new one, too."""
    removed = settings.precompensated
    if target.needs_limits and removed.source == "none":  # the sensor is not the driver's
        return False
    return target.changes_wrench or (target.needs_limits and removed.mass > 0.0)


def removes_from_wrench(target: Target, settings: Settings) -> bool:
    """Whether the target is a driver that removes the payload from the wrench that the node
    receives."""
    return target.needs_limits and _changes_wrench(target, settings)
