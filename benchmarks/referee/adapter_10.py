# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The core of version 1.0, where `inertial_id_ros.api` does not reach: single messages with all
their faults, and the compensated wrench with the load that it removes.

An adapter of another core has the same names: `settings`, `identify_filled`, and `Live` with its
methods.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from inertial_id_ros.api import Identifier, Settings, identify_accelerations
from inertial_id_ros.compensation.live import Mode
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import point_columns
from inertial_id_ros.io.inputs import Edges, JointStates, Wrenches

Array = np.ndarray
GONE = ("accelerations.noise", "alignment.estimate_position", "estimator.estimate_bias")
NO_BIAS = {"wrench.bias_sd": (1e-6, 1e-7)}


def settings(changes: Mapping[str, Any]) -> Settings:
    """Settings from names and values of version 0.2; those that are gone are found from the data,
    but for a bias that is known to be zero."""
    known = {name: value for name, value in changes.items() if name not in GONE}
    return Settings().replace(known | (
        {} if changes.get("estimator.estimate_bias", True) else NO_BIAS))


def identify_filled(filling: Path, motion: tuple[Array, ...], wrench: Array,
                    changes: Mapping[str, Any]) -> Any:
    """As `api.identify_accelerations`, of an object whose inside is known: its mesh is not closed.

    Args:
        filling: npz file with `shape_points`, `shape_volumes` and `sensor_T_mesh`, beside a .ply
            [mm]; motion: times [s], rotation, acceleration, omega, alpha; wrench: readings.
    """
    t, rotation, acceleration, omega, alpha = motion
    stamps = 10**12 + np.round(1e9 * (t - t[0])).astype(np.int64)
    return identify_accelerations(stamps, rotation, acceleration, omega, wrench, alpha,
                                  settings(changes), _filled(filling))


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

    def joints(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """A joint state."""
        self._made.streams.add(JointStates(np.array([stamp]), tuple(names), np.array([positions])))

    def wrench(self, stamp: int, frame: str, wrench: Array) -> None:
        """A wrench (6,)."""
        self._made.streams.add(Wrenches(np.array([stamp]), frame, np.asarray(wrench, float)[None]))

    def transform(self, stamp: int, parent: str, child: str, pose: Array) -> None:
        """A pose (7,): translation and quaternion x, y, z, w."""
        self._made.streams.add(Edges(np.array([stamp]), parent, child, pose[None]))

    def advance(self) -> None:
        """What a node does every .05 s between two estimates."""
        self._made.add_arrays([])

    def compensate(self, stamp: int, names: tuple[str, ...], positions: list[float], frame: str,
                   wrench: list[float]) -> Sequence[float] | None:
        """The wrench without the load by what is known now; None: nothing is published."""
        return self._made.compensate(stamp, names, positions, frame, wrench)

    def take(self, stamps: Array, names: tuple[str, ...], positions: Array, frame: str,
             wrench: Array) -> None:
        """The same samples for identification."""
        self._made.add_arrays([JointStates(stamps, names, positions),
                               Wrenches(stamps, frame, wrench)])

    def removed(self) -> Array | None:
        """phi (10,) of the load that is removed now; None: nothing is published."""
        use = self._made.load
        return None if use.mode is Mode.SILENT else np.asarray(use.phi)

    def solve(self) -> Any:
        """As `Identifier.solve`."""
        return self._made.solve()

    def finish(self) -> None:
        """As `Identifier.finish`."""
        self._made.finish()

    def findings(self) -> dict[str, str]:
        """Texts of the present findings by name."""
        return {f.name: f.text for f in self._made.findings()}
