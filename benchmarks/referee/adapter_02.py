# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The core of version 0.2, where `inertial_id_ros.api` does not reach: single messages with all
their faults, and the compensated wrench with the load that it removes.

An adapter of another core has the same names: `settings`, and `Live` with its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from inertial_id_ros.api import Settings
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.identification import accelerations
from inertial_id_ros.identification.compensation.live_compensation import LiveCompensation
from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import point_columns
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches

Array = np.ndarray
SECOND = 1_000_000_000


def settings(changes: Mapping[str, Any]) -> Settings:
    """Settings from names and values of version 0.2."""
    return Settings().replace(dict(changes))


def identify_filled(filling: Path, motion: tuple[Array, ...], wrench: Array,
                    changes: Mapping[str, Any]) -> Any:
    """As `api.identify_accelerations`, of an object whose inside is known: its mesh is not closed.

    Args:
        filling: npz file with `shape_points`, `shape_volumes` and `sensor_T_mesh`, beside a .ply
            [mm]; motion: times [s], rotation, acceleration, omega, alpha; wrench: readings.
    """
    t, rotation, acceleration, omega, alpha = motion
    recording = accelerations.Recording(t - t[0], rotation, acceleration, omega, wrench, alpha)
    return accelerations.identify(recording, settings(changes), _filled(filling))


@cache
def _filled(file: Path) -> Shape:
    with np.load(file, allow_pickle=False) as data:
        points, volumes = data["shape_points"], data["shape_volumes"]
        mesh: Any = trimesh.load(file.with_suffix(".ply"), force="mesh")
        mesh.apply_scale(1e-3)
        mesh.apply_transform(data["sensor_T_mesh"])
    scattered, _ = trimesh.sample.sample_surface(mesh, 1000, seed=np.random.default_rng(0))
    surface = np.concatenate([np.asarray(mesh.convex_hull.vertices), np.asarray(scattered)])
    return Shape(points, volumes, surface, point_columns(points) @ (volumes / volumes.sum()), False,
                 file.stem)


class Live:
    """A node's core without ROS: identification and live compensation, in simulated time."""

    def __init__(self, changes: Mapping[str, Any], urdf: str = "") -> None:
        self._made = Identifier(settings(changes))
        if urdf:
            self._made.set_robot_description(urdf)
        self._now = 0.0
        self._live = LiveCompensation(self._made.settings, lambda: self._now)
        self._live.begin()

    # ---- single messages, as they come ---------------------------------------------------------

    def joints(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """A joint state."""
        self._made.add_joint_state(stamp, tuple(names), list(positions))

    def wrench(self, stamp: int, frame: str, wrench: Array) -> None:
        """A wrench (6,)."""
        self._made.add_wrench(stamp, frame, wrench[:3].tolist(), wrench[3:].tolist())

    def transform(self, stamp: int, parent: str, child: str, pose: Array) -> None:
        """A pose (7,): translation and quaternion x, y, z, w."""
        self._made.add_transform(stamp, parent, child, pose[:3].tolist(), pose[3:].tolist())

    def advance(self) -> None:
        """What a node does every .05 s between two estimates."""
        self._made.advance()

    # ---- compensation, sample by sample, and identification by blocks ----------------------------

    def compensate(self, stamp: int, names: tuple[str, ...], positions: list[float], frame: str,
                   wrench: list[float]) -> Sequence[float] | None:
        """The wrench without the load by what is known now; None: nothing is published."""
        self._now = stamp / SECOND
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
        return None if use.mode is Mode.SILENT else np.asarray(use.load.phi)

    # ---- answers ---------------------------------------------------------------------------------

    def solve(self) -> Any:
        """As `Identifier.solve`; what follows from it for compensation holds at once."""
        outcome = self._made.solve()
        self._live.use(self._made.load_in_use())
        return outcome

    def finish(self) -> None:
        """As `Identifier.finish`."""
        self._made.finish()

    def findings(self) -> dict[str, str]:
        """Texts of the present findings by name."""
        return {f.name: f.text for f in self._made.findings()}
