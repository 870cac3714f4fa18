# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a history to an estimate; `Identifier` takes arrays, each checked before it is used."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..compensation.live import Compensation, LoadInUse
from ..errors import InvalidData, InvalidSetting
from ..io.fields import as_names, as_rows, as_stamps
from ..io.inputs import Edges, JointStates, Samples, Wrenches
from ..model.tool import Tool
from ..motion.causal import MotionNow
from . import identifier


class Identifier(identifier.Identifier):
    """Payload identification from samples that are added as arrays, all at once or step by step.

    Stamps (n,) [ns] of a stream increase, from call to call too. Methods that take arrays raise
    InvalidData where one has the wrong shape, type or unit. Without a robot description, add
    transforms instead of joint states.

    Args:
        settings: see `docs/settings.md`, e.g. ``Settings().replace({"shape.max_reach": 0.3})``;
            those of topics and services have no effect here.
        beliefs: tool, tare, shape; None: those that the settings name.

    Raises:
        InertialIdError: a setting, or the shape, tool or robot file that it names, cannot be used.

    Examples:
        >>> identifier = Identifier()
        >>> identifier.solve().reason
        "no usable wrench received on 'wrench'"
    """

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
        Results are in their frame. Raises InvalidSetting where joint torques are what counts."""
        if self.settings.load.robot:
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

    @property
    def load(self) -> LoadInUse:
        """What may be removed from the wrench, by all samples that were added."""
        self._update()
        return self.course.latch.load

    def compensate(self, stamp: int, names: Sequence[str], positions: ArrayLike, frame_id: str,
                   wrench: Sequence[float]) -> list[float] | None:
        """A wrench (6,) without `load`, in the same frame and sign; None: nothing may be removed.
        Nothing is learnt from it: add the same samples in blocks.

        Args:
            stamp: [ns]; they increase; names: of k joints, or of child frames where transforms
                were added; positions: at that stamp, (k,), or poses (k, 7) of the frames.
        """
        live, chain, now = self._live, self.streams.moved_by, np.asarray(positions, float)
        live.load = self.load.seen_in(frame_id.lstrip("/"), self.streams)
        live.terms = self.settings.compensation.terms
        if chain is not (live.motion and live.motion.chain):
            live.motion = None if chain is None else MotionNow(chain)
        if live.motion is not None and now.ndim == 1:
            live.motion.update(stamp, names, now)
        elif live.motion is not None:
            for name, pose in zip(names, as_rows("positions", now, (len(names), 7)), strict=True):
                live.motion.update_pose(stamp, name.lstrip("/"), pose)
        return live.compensate(stamp, frame_id, wrench)

    @cached_property
    def _live(self) -> Compensation:
        return Compensation(self.settings)

    def set_tool(self, tool: Tool | None) -> None:
        """Identify the object without this tool from the next samples on; None: all there is."""
        self.believe(replace(self.beliefs, tool=tool))

    def _add(self, stream: tuple[str, ...], samples: Samples) -> None:
        """Keep samples of a stream for the next call that needs them (raises InvalidData where they
        do not follow those added before)."""
        if not len(samples.stamps):
            return
        first, before = int(samples.stamps[0]), self.added.get(stream, 0)
        if first <= before:
            raise InvalidData(f"stamps of {stream[0]} begin at {first} ns, but samples up to "
                              f"{before} ns were added before; add them in order, or call reset()")
        self.added[stream] = int(samples.stamps[-1])
        self.waiting.append(samples)
