# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Cases of damaged robot descriptions."""

from __future__ import annotations

import re
from pathlib import Path

from . import texts
from .containers import STORE, write
from .recordings import container
from .sound import URDF, Case, Sound
from .texts import Rng

_QUICK = ("--frame", "ft_sensor", "--starts", "1", "--iterations", "2", "--rate", "50",
          "--duration", "4", "--budget", "3")
_NAMES = ("file:///dev/zero", "file:///etc/passwd", "package://a/../../etc/passwd", "", "x.stl",
          "http://h/x.stl", "file://[x", "package://", "file:///a%00.stl", "/dev/zero")


def in_bag(sound: Sound, folder: Path, rng: Rng) -> Case:
    text = texts.mutated_urdf(sound.urdf, rng).decode(errors="replace")
    data = bytes(STORE.serialize_cdr(STORE.types["std_msgs/msg/String"](data=text),
                                          "std_msgs/msg/String"))
    write(folder / "bag", [m._replace(data=data) if m.topic == "/robot_description" else m
                                for m in sound.messages], container(rng))
    return Case("identify_bag", [str(folder / "bag")])


def file(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / URDF).write_bytes(texts.mutated_urdf(sound.urdf, rng))
    return Case("identify_bag", [str(sound.bag), "--urdf", str(folder / URDF)])


def planned(sound: Sound, folder: Path, rng: Rng) -> Case:
    (folder / URDF).write_bytes(texts.mutated_urdf(sound.urdf, rng))
    return Case("plan_excitation", [str(folder / URDF), "--for",
                                    str(rng.choice(["payload", "robot"])), *_QUICK])


def meshes(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Collision meshes that are damaged, elsewhere, or none."""
    kind = str(rng.choice(["stl", "ply", "obj", "off", "dae"]))
    data = (sound.folder / f"mesh.{kind}").read_bytes()
    (folder / f"mesh.{kind}").write_bytes(texts.mutated_bytes(data, rng))
    name = str(rng.choice(_NAMES)) if rng.random() < 0.3 else f"file://{folder}/mesh.{kind}"
    scale = str(rng.choice(["1 1 1", "0.001 0.001 0.001", "nan 1 1", "1e300 1 1", "0 0 0", "-1 1 1",
                            "1", "a b c", "1e-300 1 1"]))
    geometry = f'<geometry><mesh filename="{name}" scale="{scale}"/></geometry>'
    found = list(re.finditer(r"(?s)(?<=<collision>).*?(?=</collision>)", sound.urdf))
    at = found[int(rng.integers(len(found)))]
    (folder / URDF).write_text(sound.urdf[:at.start()] + geometry + sound.urdf[at.end():])
    return Case("plan_excitation", [str(folder / URDF), *_QUICK])
