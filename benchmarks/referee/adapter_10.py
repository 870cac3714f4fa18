# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The core of version 1.0, see `adapter_02`: importing this makes `api` use it, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inertial_id_ros import api
from inertial_id_ros.apps.bag import offline
from inertial_id_ros.compensation.latch import Mode
from inertial_id_ros.compensation.live import Compensation
from inertial_id_ros.identify.make import make_identifier
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches

from .adapter_02 import identify_filled, settings

__all__ = ["Live", "identify_filled", "settings"]
Array = np.ndarray


_made: Any = make_identifier
api.identifier_from_settings = _made
offline.identifier_from_settings = _made


class Live:
    """A node's core without ROS: identification and live compensation, in simulated time."""

    def __init__(self, changes: Mapping[str, Any], urdf: str = "") -> None:
        self._settings = settings(changes)
        self._made = _made(self._settings)
        self._live = Compensation(self._settings.compensation, self._settings.wrench.sign)
        self._has_chain = False
        if urdf:
            self._made.set_robot_description(urdf)

    def joints(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """A joint state."""
        self._made.streams.add_joint_states(np.array([stamp]), tuple(names), np.array([positions]))

    def wrench(self, stamp: int, frame: str, wrench: Array) -> None:
        """A wrench (6,)."""
        self._made.streams.add_wrenches(np.array([stamp]), frame, np.asarray(wrench, float)[None])

    def transform(self, stamp: int, parent: str, child: str, pose: Array) -> None:
        """A pose (7,): translation and quaternion x, y, z, w."""
        self._made.streams.add_transforms(np.array([stamp]), parent, child, pose[None])

    def advance(self) -> None:
        """What a node does every .05 s between two estimates."""
        self._made.add_arrays([])

    def compensate(self, stamp: int, names: tuple[str, ...], positions: list[float], frame: str,
                   wrench: list[float]) -> Sequence[float] | None:
        """The wrench without the load by what is known now; None: nothing is published."""
        if not self._has_chain and self._made.streams.chain is not None:
            self._live.use_chain(self._made.streams.chain)
            self._has_chain = True
        self._live.add_joint_state(stamp, names, positions)
        return self._live.compensate(stamp, frame, wrench)

    def take(self, stamps: Array, names: tuple[str, ...], positions: Array, frame: str,
             wrench: Array) -> None:
        """The same samples for identification; then the load to remove is judged anew."""
        self._made.add_arrays([JointStates(stamps, names, positions),
                               Wrenches(stamps, frame, wrench)])
        self._live.use(self._made.load_in_use())

    def removed(self) -> Array | None:
        """phi (10,) of the load that is removed now; None: nothing is published."""
        use = self._made.load_in_use()
        return None if use.mode is Mode.SILENT else np.asarray(use.phi)

    def solve(self) -> Any:
        """As `Identifier.solve`."""
        outcome = self._made.solve()
        self._live.use(self._made.load_in_use())
        return outcome

    def finish(self) -> None:
        """As `Identifier.finish`."""
        self._made.finish()

    def findings(self) -> dict[str, str]:
        """Texts of the present findings by name."""
        return {f.name: f.text for f in self._made.findings()}
