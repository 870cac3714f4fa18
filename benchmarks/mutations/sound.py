# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Input without faults, from which all cases are made, and what a case is."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
import yaml

from benchmarks.joint_torque import block, simulate, wide_motion
from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.robot.identify_robot import main as identify_robot
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.identification.state import State, StateFile
from inertial_id_ros.regression.tool import load_tool
from inertial_id_ros.settings import Settings, iter_settings

from . import bags
from .containers import CONTAINERS, write

URDF, TOOL, STATE, ROBOT = "robot.urdf", "tool.json", "state.json", "robot.json"
FAST = ("--no-align", "--coulomb-velocity", "0.003", "--hold-back", "0")
_DAE = """<?xml version="1.0"?><COLLADA version="1.4.1"><asset/><library_geometries>
<geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array></source>
</mesh></geometry></library_geometries></COLLADA>"""


def of_torques(robot: Path) -> list[str]:
    """Arguments of `identify_bag` for a payload from joint torques."""
    return ["--robot", str(robot), "--sensor-frame", "ft_sensor"]


@dataclass(frozen=True)
class Case:
    """One run: tool, its arguments, and whether its result must be that of the sound recording."""

    tool: str
    arguments: list[str]
    unharmed: bool = False


class Sound:
    """Input without faults, from which all cases are made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.urdf = bags.simulate(folder / "simulated").urdf
        self.messages = bags.read(folder / "simulated")
        for name in CONTAINERS:
            write(folder / name, self.messages, name)
        tool = folder / TOOL
        with contextlib.redirect_stdout(io.StringIO()):
            status = identify_bag([str(self.bag), "--quiet", "--save-tool", str(tool),
                                   "--json", str(folder / "result.json")])
        if status != 0:
            raise RuntimeError("the sound recording gives no estimate")
        self.result = json.loads((folder / "result.json").read_text())
        StateFile(folder / STATE).save(State(tool=load_tool(tool)))
        self.tool = json.loads(tool.read_text())
        self.state = json.loads((folder / STATE).read_text())
        self.metadata = yaml.safe_load((self.bag / "metadata.yaml").read_text())
        self.settings = _tree_of_settings()
        box = trimesh.creation.box((0.1, 0.2, 0.3))
        for kind in ("stl", "ply", "obj", "off"):
            box.export(folder / f"mesh.{kind}")
        np.save(folder / "mesh.npy", np.asarray(box.vertices))
        np.savetxt(folder / "mesh.xyz", np.asarray(box.vertices))
        (folder / "mesh.dae").write_text(_DAE)
        self._record_joints()

    def _record_joints(self) -> None:
        """Joint torques without a payload as tables, with one as messages, and the robot's file."""
        names = load_description().joint_names
        free = simulate(wide_motion(6.0), 6.0)
        np.savez(self.folder / "joints.npz", t=free.t, q=free.q, effort=free.effort,
                 names=np.array(names))
        head = ["time", *(f"position.{n}" for n in names), *(f"effort.{n}" for n in names)]
        np.savetxt(self.folder / "joints.csv", np.hstack([free.t[:, None], free.q, free.effort]),
                   "%.6f", ",", header=",".join(head), comments="")
        (self.folder / URDF).write_text(load_description().urdf)
        self.torques = bags.joint_torques(load_description().urdf, names,
                                          simulate(wide_motion(4.0, 1), 4.0, block(2.0), 1))
        status = identify_robot([
            str(self.folder / "joints.npz"), "--urdf", str(self.folder / URDF), "--quiet",
            *FAST, "--write-robot", str(self.folder / ROBOT)])
        write(self.folder / "torques", self.torques)
        if status != 0 or identify_bag([str(self.folder / "torques"), "--quiet",
                                        *of_torques(self.folder / ROBOT)]) != 0:
            raise RuntimeError("the sound joint torques give no robot or no payload")
        self.robot = json.loads((self.folder / ROBOT).read_text())

    @property
    def bag(self) -> Path:
        """The recording as mcap."""
        return self.folder / "mcap"


def _tree_of_settings() -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value, _ in iter_settings(Settings()):
        *groups, last = name.split(".")
        inner = tree
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[last] = list(value) if isinstance(value, tuple) else value
    return tree
