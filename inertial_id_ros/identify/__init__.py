# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a history to an estimate; `Identifier` takes arrays, each checked before it is used."""

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from ..errors import InvalidData, InvalidSetting
from ..estimate import Estimate, Outcome
from ..io.fields import as_names, as_rows, as_stamps
from ..io.inputs import Edges, JointStates, Samples, Wrenches
from ..model.tool import Tool
from ..settings import Settings
from . import identifier


class Identifier(identifier.Identifier):
    """Payload identification from samples that are added as arrays, all at once or step by step.

    Stamps (n,) [ns] of a stream increase, from call to call too. Methods that take arrays raise
    InvalidData where one has the wrong shape, type or unit. Without a robot description, add
    transforms instead of joint states.

    Args:
        settings: see `docs/settings.md`, e.g. ``Settings().replace({"shape.max_reach": 0.3})``;
            those of topics and services have no effect here.

    Raises:
        InertialIdError: a setting, or the shape, tool or robot file that it names, cannot be used.

    Examples:
        >>> identifier = Identifier(Settings())
        >>> identifier.solve().reason
        "no usable wrench received on 'wrench'"
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings if settings is not None else Settings())
        self._told: Outcome | None = None
        self._newest: dict[tuple[str, ...], int] = {}

    def add_joint_states(self, stamps: ArrayLike, names: Sequence[str], positions: ArrayLike,
                         efforts: ArrayLike | None = None) -> None:
        """Add samples of k joints, named as in the robot description: positions (n, k) [rad or m];
        efforts (n, k) [N m or N], needed with `load.robot` only."""
        joints = as_names("names", names)
        times = as_stamps("joint states", stamps)
        shape = len(times), len(joints)
        self._add(("joint states", *joints), JointStates(
            times, joints, as_rows("positions", positions, shape),
            None if efforts is None else as_rows("efforts", efforts, shape)))

    def add_wrenches(self, stamps: ArrayLike, frame_id: str, wrench: ArrayLike) -> None:
        """Add wrenches (n, 6) of the sensor [N, N m], with the sign that `wrench.convention` names.
        Results are in their frame. Raises InvalidSetting where joint torques are identified from.
        """
        if self.settings.load.source == "joint_torque":
            raise InvalidSetting("load.robot names a robot file, which uses no wrenches; add joint "
                                 "states with efforts, or leave load.robot empty")
        as_names("frame_id", [frame_id])
        times = as_stamps("wrenches", stamps)
        self._add(("wrenches",), Wrenches(
            times, frame_id, as_rows("wrench", wrench, (len(times), 6))))

    def add_transforms(self, stamps: ArrayLike, parent: str, child: str, poses: ArrayLike) -> None:
        """Add poses (n, 7) of a frame in its parent, as TF gives them: translation [m], quaternion
        x, y, z, w; instead of joint states."""
        as_names("parent and child", [parent, child])
        times = as_stamps("transforms", stamps)
        self._add(("transforms", parent, child), Edges(
            times, parent, child, as_rows("poses", poses, (len(times), 7))))

    def solve(self) -> Outcome:
        """Estimate the payload from the last `buffer.window` seconds of all samples so far.

        May be called after every few samples or once at the end. A `NoEstimate` says why there is
        none. Without new samples the last estimate comes again, marked as stale.
        """
        before, self._told = self._told, super().solve()
        now = self._told
        if isinstance(now, Estimate) and isinstance(before, Estimate) and not now.stale and (
                now.stamp_ns == before.stamp_ns):
            return now.as_stale("no new samples")
        return now

    def set_tool(self, tool: Tool | None) -> None:
        """Identify the object without this tool from the next samples on; None: all there is."""
        self.believe(replace(self.beliefs, tool=tool))

    def reset(self, reason: str = "reset was called") -> None:
        """Forget all samples; keep robot description, fixed transforms, tool and bias."""
        self._newest.clear()
        self._told = None
        super().reset(reason)

    def _add(self, stream: tuple[str, ...], samples: Samples) -> None:
        """Keep samples of a stream for the next call that needs them.

        Raises:
            InvalidData: they do not follow the samples added before.
        """
        if not len(samples.stamps):
            return
        first, before = int(samples.stamps[0]), self._newest.get(stream, 0)
        if first <= before:
            raise InvalidData(f"stamps of {stream[0]} begin at {first} ns, but samples up to "
                              f"{before} ns were added before; add them in order, or call reset()")
        self._newest[stream] = int(samples.stamps[-1])
        self.waiting.append(samples)
