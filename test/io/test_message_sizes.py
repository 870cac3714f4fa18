# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages with more entries than any robot has, in a recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest

from inertial_id_ros.apps.bag.offline import identify
from inertial_id_ros.apps.bag.reader import BagReader
from inertial_id_ros.apps.bag.topics import select_topics
from inertial_id_ros.apps.report.results import Identification
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.limits import MAX_JOINTS, MAX_TRANSFORMS
from inertial_id_ros.settings import Settings

DURATION = 2.0


def result(path: Path, streams: list[bags.Stream]) -> Identification:
    settings = Settings()
    with BagReader(bags.write_bag(path, streams)) as recording:
        return identify(recording, select_topics(recording.topics, settings),
                        Identifier(settings), settings)


def beside(stream: bags.Stream, message: Any) -> bags.Stream:
    """The stream with a message in its middle."""
    return replace(stream, samples=[*stream.samples,
                                    (bags.START + int(0.5e9 * DURATION) + 1, message)])


def _joints(stamp: int, n: int) -> Any:
    return bags.STORE.types[bags.JOINTS](
        header=bags.header(stamp, ""), name=[f"j{k}" for k in range(n)], position=np.zeros(n),
        velocity=np.zeros(0), effort=np.zeros(0))


def _edges(stamp: int, n: int) -> Any:
    still = np.array([0.0, 0.0, 0.0, 1.0])
    return bags.STORE.types[bags.TF](transforms=[
        bags.transform(stamp, "base", f"f{k}", np.zeros(3), still) for k in range(n)])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stream"), [
    ("joint_state", "joints"), ("transform", "transforms"),
    ("static_transform", "static_transforms")])
def test_a_message_with_too_many_entries_is_dropped_and_told(
        kind: str, stream: str, tmp_path: Path) -> None:
    stamp = bags.START + int(0.5e9 * DURATION)
    wrench = bags.wrench_stream(DURATION, bags.Payload())
    urdf = bags.text_stream("/robot_description", bags.URDF)
    joints, moving, fixed = (bags.joint_stream(DURATION), bags.tf_stream(DURATION),
                             bags.static_tf_stream())
    if kind == "joint_state":
        sound = [wrench, urdf, joints]
        harmed = [wrench, urdf, beside(joints, _joints(stamp, MAX_JOINTS + 1))]
    elif kind == "transform":
        sound = [wrench, moving, fixed]
        harmed = [wrench, beside(moving, _edges(stamp, MAX_TRANSFORMS + 1)), fixed]
    else:
        sound = [wrench, moving, fixed]
        harmed = [wrench, moving, beside(fixed, _edges(stamp, MAX_TRANSFORMS + 1))]
    wanted, found = result(tmp_path / "sound", sound), result(tmp_path / "harmed", harmed)
    told = {f.name: f.text for f in found.findings}
    assert "entries dropped; at most" in told[f"message_too_large.{stream}"]
    assert np.array_equal(found.outcome.phi, wanted.outcome.phi)
    assert not any(f.name.startswith("message_too_large") for f in wanted.findings)
