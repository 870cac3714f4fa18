"""The kinds of cases: each writes mutated input into a folder and says which tool is to read it."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
import yaml

from inertial_id_ros.bag.identify_bag import main as identify_bag
from inertial_id_ros.settings import Settings, iter_settings
from inertial_id_ros.state import State, StateFile
from inertial_id_ros.tool import load_tool

from . import bags, texts
from .texts import Rng

URDF, TOOL, STATE = "robot.urdf", "tool.json", "state.json"
_MESHES = ("stl", "ply", "obj", "off", "npy")
_PAYLOAD = {"parts": [{"shape": "box", "size": [0.1, 0.2, 0.05], "density": 700.0,
                       "center": [0.0, 0.0, 0.1]},
                      {"shape": "cylinder", "size": [0.03, 0.1], "density": 2700.0}]}
_METHODS = ("density", "lmi", "wls", "ols", "manifold", "pmd", "rtls")


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
        for storage in bags.STORAGES:
            cobot = bags.simulate(folder / storage, storage)
        self.urdf = cobot.urdf
        self.messages = bags.read(self.bag)
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
        for kind in _MESHES[:-1]:
            box.export(folder / f"mesh.{kind}")
        np.save(folder / "mesh.npy", np.asarray(box.vertices))

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


def _storage(rng: Rng) -> str:
    return str(rng.choice(list(bags.STORAGES)))


def bag_bytes(sound: Sound, folder: Path, rng: Rng) -> Case:
    storage = _storage(rng)
    shutil.copytree(sound.folder / storage, folder / "bag")
    (file,) = (f for f in (folder / "bag").iterdir() if f.suffix in (".mcap", ".db3"))
    file.write_bytes(texts.mutated_bytes(file.read_bytes(), rng))
    return Case("identify_bag", [str(file if rng.random() < 0.3 else folder / "bag")])


def bag_tail(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Index and footer of an mcap file, or the header of an SQLite file, mutated; magic kept."""
    storage = _storage(rng)
    shutil.copytree(sound.folder / storage, folder / "bag")
    (file,) = (f for f in (folder / "bag").iterdir() if f.suffix in (".mcap", ".db3"))
    data = bytearray(file.read_bytes())
    low, high = (len(data) - 3000, len(data) - 8) if storage == "mcap" else (32, 5000)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(low, high))
        data[at] = int(rng.choice([0, 255, data[at] ^ 1 << int(rng.integers(8))]))
    file.write_bytes(data)
    return Case("identify_bag", [str(file if rng.random() < 0.3 else folder / "bag")])


def bag_metadata(sound: Sound, folder: Path, rng: Rng) -> Case:
    shutil.copytree(sound.bag, folder / "bag")
    (folder / "bag" / "metadata.yaml").write_bytes(texts.mutated_yaml(sound.metadata, rng))
    return Case("identify_bag", [str(folder / "bag")])


def _messages(mutate: Callable[[list[bags.Raw], Rng], list[bags.Raw]], unharmed: bool = False
              ) -> Callable[[Sound, Path, Rng], Case]:
    def made(sound: Sound, folder: Path, rng: Rng) -> Case:
        bags.write(folder / "bag", mutate(sound.messages, rng), _storage(rng))
        more = [] if unharmed or rng.random() < 0.5 else [
            "--method", str(rng.choice(_METHODS)), "--box", "0.2,0.2,0.2,0,0,0.1",
            "--set", f"kinematics.source={rng.choice(['auto', 'tf', 'joint_states'])}"]
        return Case("identify_bag", [str(folder / "bag"), *more], unharmed)

    return made


def urdf_in_bag(sound: Sound, folder: Path, rng: Rng) -> Case:
    text = texts.mutated_urdf(sound.urdf, rng).decode(errors="replace")
    data = bytes(bags.STORE.serialize_cdr(bags.STORE.types["std_msgs/msg/String"](data=text),
                                          "std_msgs/msg/String"))
    bags.write(folder / "bag", [m._replace(data=data) if m.topic == "/robot_description" else m
                                for m in sound.messages], _storage(rng))
    return Case("identify_bag", [str(folder / "bag")])


def urdf_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / URDF).write_bytes(texts.mutated_urdf(sound.urdf, rng))
    return Case("identify_bag", [str(sound.bag), "--urdf", str(folder / URDF)])


def urdf_planned(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / URDF).write_bytes(texts.mutated_urdf(sound.urdf, rng))
    return Case("plan_excitation", [
        str(folder / URDF), "--frame", "ft_sensor", "--for", str(rng.choice(["payload", "robot"])),
        "--starts", "1", "--iterations", "2", "--rate", "50", "--duration", "4", "--budget", "3"])


def settings_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    groups = list(sound.settings)
    tree = {str(g): sound.settings[str(g)] for g in rng.choice(groups, 4, replace=False)}
    if rng.random() < 0.5:
        tree = {"/**": {"ros__parameters": tree}}
    (folder / "config.yaml").write_bytes(texts.mutated_yaml(tree, rng))
    return Case("identify_bag", [str(sound.bag), "--config", str(folder / "config.yaml")])


def settings_given(sound: Sound, folder: Path, rng: Rng) -> Case:
    names = [name for name, _, _ in iter_settings(Settings())]
    values = (*texts.NUMBERS, "[1,2,3]", "[", "{a: 1}", "2001-99-99", "true", "[nan]", "1e9",
              "1e-9", "3", "[1e200,1,1]", "&a [*a]", "a: b: c", "0.5", "10", "100")
    words = [f"{rng.choice(names)}={values[int(rng.integers(len(values)))]}"
             for _ in range(int(rng.integers(1, 3)))]
    return Case("identify_bag", [str(sound.bag), *(x for w in words for x in ("--set", w))])


def tool_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / TOOL).write_bytes(texts.mutated_json(sound.tool, rng))
    return Case("identify_bag", [str(sound.bag), "--tool", str(folder / TOOL)])


def state_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / STATE).write_bytes(texts.mutated_json(sound.state, rng))
    return Case("state", [str(folder / STATE)])


def mesh_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    name = f"mesh.{rng.choice(_MESHES)}"
    data = (sound.folder / name).read_bytes()
    words = [w.encode() for w in texts.NUMBERS]
    if rng.random() < 0.4:
        parts = data.split(b" ")
        parts[int(rng.integers(len(parts)))] = words[int(rng.integers(len(words)))]
        data = b" ".join(parts)
    else:
        data = texts.mutated_bytes(data, rng)
    (folder / name).write_bytes(data)
    return Case("identify_bag", [str(sound.bag), "--method", str(rng.choice(["density", "pmd"])),
                                 "--mesh", str(folder / name)])


def payload_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / "payload.yaml").write_bytes(texts.mutated_yaml(_PAYLOAD, rng))
    return Case("simulation", ["--payload", str(folder / "payload.yaml"), "--duration", "0.1",
                               "--rate", "100", "--write", str(folder / "bag")])


KINDS: dict[str, Callable[[Sound, Path, Rng], Case]] = {
    "recording: bytes": bag_bytes,
    "recording: index": bag_tail,
    "recording: metadata": bag_metadata,
    "messages: bytes": _messages(bags.with_mutated_bytes),
    "messages: values": _messages(bags.with_other_values),
    "messages: times": _messages(bags.with_other_times),
    "messages: topics": _messages(bags.with_other_topics),
    "messages: unrelated": _messages(bags.with_an_unrelated_topic, unharmed=True),
    "description: topic": urdf_in_bag,
    "description: file": urdf_file,
    "description: planned": urdf_planned,
    "settings: file": settings_file,
    "settings: command line": settings_given,
    "tool file": tool_file,
    "state file": state_file,
    "mesh file": mesh_file,
    "payload file": payload_file}
