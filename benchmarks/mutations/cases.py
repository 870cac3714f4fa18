# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The kinds of cases: each writes mutated input into a folder and says which tool is to read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from inertial_id_ros.settings import Settings, iter_settings

from . import bags, descriptions, recordings, texts
from .containers import write
from .sound import FAST, ROBOT, STATE, TOOL, URDF, Case, Sound, of_torques
from .texts import Rng

_MESHES = ("stl", "ply", "obj", "off", "npy", "xyz", "dae")
_PAYLOAD = {"parts": [{"shape": "box", "size": [0.1, 0.2, 0.05], "density": 700.0,
                       "center": [0.0, 0.0, 0.1]},
                      {"shape": "cylinder", "size": [0.03, 0.1], "density": 2700.0}]}


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


def joint_table(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Joint positions and torques as CSV or NPZ: bytes, times, shapes, types."""
    name = f"joints.{rng.choice(['csv', 'npz'])}"
    if name.endswith("csv") or rng.random() < 0.3:
        data = texts.mutated_bytes((sound.folder / name).read_bytes(), rng)
        if rng.random() < 0.5 and name.endswith("csv"):
            words = data.split(b",")
            words[int(rng.integers(len(words)))] = str(rng.choice(texts.NUMBERS)).encode()
            data = b",".join(words)
        (folder / name).write_bytes(data)
    else:
        with np.load(sound.folder / name) as held:
            arrays = dict(held)
        key = str(rng.choice(list(arrays)))
        arrays[key] = _other_array(arrays[key], rng)
        np.savez(folder / name, **arrays)
    return Case("identify_robot", [str(folder / name), "--urdf", str(sound.folder / URDF), *FAST])


def _other_array(array: np.ndarray, rng: Rng) -> np.ndarray:
    number = array.dtype.kind == "f"
    some = rng.random(len(array)) < float(rng.choice([0.01, 0.5, 1.0]))
    match int(rng.integers(8)):
        case 0:
            return array[::-1]
        case 1:
            return array[:int(rng.integers(len(array)))]
        case 2:
            return array.astype(str) if number else np.arange(len(array))
        case 3:
            return array[None]
        case 4:
            return array.astype(complex) if number else array[0]
        case 5 if number:
            return rng.permutation(array)
        case _:
            out = array.astype(float) if number else array.copy()
            out[some] = rng.choice([np.nan, np.inf, 1e300, -1e300, 0.0, 1e9]) if number else "x"
            return out


def joint_messages(sound: Sound, folder: Path, rng: Rng) -> Case:
    """A recording of joint torques with damaged messages, for a robot or for its payload."""
    faults = (bags.with_mutated_bytes, bags.with_other_values, bags.with_other_times,
              bags.with_other_topics)
    fault = faults[int(rng.integers(len(faults)))]
    write(folder / "bag", fault(sound.torques, rng), recordings.container(rng))
    if rng.random() < 0.5:
        return Case("identify_robot", [str(folder / "bag"), *FAST])
    return Case("identify_bag", [str(folder / "bag"), *of_torques(sound.folder / ROBOT)])


def robot_file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / ROBOT).write_bytes(texts.mutated_json(sound.robot, rng))
    write(folder / "bag", sound.torques)
    return Case("identify_bag", [str(folder / "bag"), *of_torques(folder / ROBOT)])


KINDS: dict[str, Callable[[Sound, Path, Rng], Case]] = {
    "recording: bytes": recordings.storage,
    "recording: index": recordings.index,
    "recording: metadata": recordings.metadata,
    "recording: chunks": recordings.compressed,
    "recording: packed": recordings.packed,
    "recording: database": recordings.database,
    "messages: bytes": recordings.messages(bags.with_mutated_bytes),
    "messages: values": recordings.messages(bags.with_other_values),
    "messages: times": recordings.messages(bags.with_other_times),
    "messages: topics": recordings.messages(bags.with_other_topics),
    "messages: unrelated": recordings.messages(bags.with_an_unrelated_topic, unharmed=True),
    "description: topic": descriptions.in_bag,
    "description: file": descriptions.file,
    "description: planned": descriptions.planned,
    "description: meshes": descriptions.meshes,
    "settings: file": settings_file,
    "settings: command line": settings_given,
    "tool file": tool_file,
    "state file": state_file,
    "mesh file": mesh_file,
    "payload file": payload_file,
    "robot file": robot_file,
    "joints: table": joint_table,
    "joints: messages": joint_messages}
