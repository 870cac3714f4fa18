# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node writes of its inputs, and that a replay of them gives its numbers to the digit."""

import json
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from node_client import current_findings, wait_for_valid, wait_until_all_is_used  # noqa: E402
from ros_process import LATCHED, Robot, Stage, play_until, queued, wait_until  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.apps.bag.black_box import read_black_box  # noqa: E402
from inertial_id_ros.apps.bag.identify_bag import main as identify_bag  # noqa: E402
from inertial_id_ros.apps.bag.offline import identify_recording  # noqa: E402
from inertial_id_ros.apps.bag.reader import BagReader  # noqa: E402
from inertial_id_ros.estimate import Estimate  # noqa: E402
from inertial_id_ros.io.files import without_nonfinite  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.ros.contract import DEADLINE  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.signals.message_adapter import WRENCH  # noqa: E402
from inertial_id_ros.srv import Save  # noqa: E402

NODE = "/inertial_id_node"
INPUTS = Save.Request(inputs_only=True)


def estimates(box: Path) -> list[dict]:
    """All estimates of a replay that is told nothing but the folder."""
    read = read_black_box(box)
    assert read is not None
    result = identify_recording(box, Settings().replace(dict(read.settings)), box=read)
    return [json.loads(json.dumps(without_nonfinite(snapshot.outcome.to_json())))
            for snapshot in result.history if isinstance(snapshot.outcome, Estimate)]


def stamp_of(message: InertialParameters) -> int:
    """Stamp [ns]."""
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def wait_for_box(folder: Path) -> Path:
    """The one black box that lies in a folder, when it is complete."""
    wait_until(lambda: list(folder.glob("recordings/[!.]*")))
    box, = folder.glob("recordings/[!.]*")
    return box


def save_a_box(folder: Path, case: str) -> tuple[dict, Path, list[InertialParameters]]:
    """What a node saves, its black box, and all its messages: with settings that are not the
    defaults, while data arrive faster than usual, and with another payload in the end."""
    with Stage() as stage:
        stage.start_node(state__directory=str(folder), state__restore=False,
                         estimator__rate=4.0, wrench__sensor="ati_gamma", buffer__window=5.0)
        received = stage.client.listen(InertialParameters, f"{NODE}/inertial_parameters", 100)
        if case == "compensated":  # samples are processed more often then
            stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated")
        robot = Robot(stage.client)
        if case == "described late":
            robot.play(4.0)
        robot.publish_description()
        robot.play(9.0)
        robot.cobot = Robot(stage.client, payload="drill").cobot
        robot.play(6.0)

        def has_ended() -> bool:
            last = received[-1] if received else None
            if last is not None and last.valid:
                return last.stale and stamp_of(last) > robot.newest_ns - 1_000_000_000
            robot.play(0.5)  # a busy machine may lose samples of the new payload
            return False

        stage.client.spin_until(has_ended)
        answer = stage.client.call(Save, f"{NODE}/save", Save.Request(name="load.json"))
        assert answer.success and str(folder / "recordings" / "load") in answer.message
        return json.loads(Path(answer.path).read_text()), wait_for_box(folder), received


@pytest.mark.alone
@pytest.mark.parametrize("case", ["plain", "compensated", "described late"])
def test_a_replayed_black_box_gives_the_estimates_of_its_node_to_the_digit(
        tmp_path: Path, case: str) -> None:
    for attempt in range(4):
        saved, box, received = save_a_box(tmp_path / str(attempt), case)
        read = read_black_box(box)
        assert read is not None and read.complete
        if not read.commands:
            break
        assert "too busy" in read.commands[0]  # on a machine that has no time for it
    assert not read.commands
    assert read.settings["wrench.sensor"] == "ati_gamma"
    assert "gives the estimates of the node" in read.notes(False)[1]
    with BagReader(box) as recording:
        times = [message.log_time for message in recording.raw_of({"/wrench": WRENCH.type})]
    assert median(b - a for a, b in pairwise(times)) > 100_000  # as they arrived, one by one
    fresh = {e["stamp_ns"]: e for e in estimates(box) if not e["stale"]}
    for name in ("mass", "com", "inertia_com", "covariance", "bias", "verdict", "residual_rms"):
        assert fresh[saved["stamp_ns"]][name] == saved[name], name
    told = {stamp_of(m): m for m in received if m.valid and not m.stale}
    assert len(told.keys() & fresh.keys()) == len(told) > 3
    for stamp, message in told.items():
        assert message.inertia.m == fresh[stamp]["mass"]
        assert list(message.residual_rms) == fresh[stamp]["residual_rms"]
    assert identify_bag([str(box), "--json", str(tmp_path / "out.json"), "--quiet"]) == 0
    assert json.loads((tmp_path / "out.json").read_text())["stamp_ns"] == max(fresh)


def test_a_replay_says_that_the_beginning_is_lost(tmp_path: Path) -> None:
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), state__restore=False,
                         black_box__duration=2.0)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(24.0)  # takes 4 s
        wait_until_all_is_used(stage)
        answer = stage.client.call(Save, f"{NODE}/save", Save.Request())
        box = wait_for_box(tmp_path)
    read = read_black_box(box)
    assert read is not None and not read.complete
    assert "begins later than the node" in read.notes(False)[1]
    saved, last = json.loads(Path(answer.path).read_text()), estimates(box)[-1]
    assert last["mass"] == pytest.approx(saved["mass"], rel=0.01)


@pytest.mark.slow
def test_estimates_go_on_while_a_black_box_is_written(tmp_path: Path) -> None:
    """Of a minute of data: messages are in time, with new samples in them."""
    with Stage() as stage:
        node = stage.start_node(state__directory=str(tmp_path), state__restore=False,
                                estimator__rate=10.0).process.pid
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(60.0, speed=8.0)
        wait_for_valid(stage)
        got: list[tuple[float, InertialParameters]] = []
        stage.client.node.create_subscription(
            InertialParameters, f"{NODE}/inertial_parameters",
            lambda m: got.append((time.monotonic(), m)), 10)
        folder, written = tmp_path / "recordings", list[float]()
        service = stage.client.node.create_client(Save, f"{NODE}/save")
        assert service.wait_for_service(10.0)
        answer = service.call_async(INPUTS)
        asked, waits = time.monotonic(), queued(node)

        def look(_: int) -> None:
            stage.client.executor.spin_once(timeout_sec=0.0)
            if not written and list(folder.glob("[!.]*")):
                written.append(time.monotonic())

        play_on = partial(robot.play, speed=1.0, each=look)
        play_until(play_on, lambda: written and answer.done())
        play_on(1.5)
        assert answer.result().success
        busy = queued(node) - waits
    meanwhile = [(t, m) for t, m in got if asked <= t < written[0] + 1.5]
    assert max(b - a for (a, _), (b, _) in pairwise(meanwhile)) < DEADLINE + busy
    stamps = {(m.header.stamp.sec, m.header.stamp.nanosec) for _, m in meanwhile if not m.stale}
    assert len(stamps) >= 3  # of new estimates


def test_the_service_writes_and_a_command_is_noted(tmp_path: Path) -> None:
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), state__restore=False)
        early = stage.client.call(Save, f"{NODE}/save", INPUTS)
        assert not early.success and "no message" in early.message
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(3.0)
        wait_for_valid(stage)
        assert stage.client.call(Trigger, f"{NODE}/reset").success
        answer = stage.client.call(Save, f"{NODE}/save", INPUTS)
        assert answer.success
        box, = (tmp_path / "recordings").iterdir()  # it was written before the answer came
    assert str(box) in answer.message
    read = read_black_box(box)
    assert read is not None and "reset" in read.commands[0] and "reset" in read.notes(False)[-1]


def test_the_service_says_what_failed_and_may_be_asked_again_at_once(tmp_path: Path) -> None:
    """So it may after ~/save; only what was written just now is not written again."""
    recordings = tmp_path / "recordings"
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), state__restore=False)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(4.0)
        wait_for_valid(stage)
        recordings.write_text("no folder")
        failed = stage.client.call(Save, f"{NODE}/save", INPUTS)
        assert not failed.success and f"black box {recordings}" in failed.message
        assert "cannot be written" in failed.message
        assert "file_not_written.black_box" in current_findings(stage)
        recordings.unlink()
        saved = stage.client.call(Save, f"{NODE}/save", Save.Request())
        assert saved.success and f"being written to {recordings}" in saved.message
        wait_for_box(tmp_path)
        answer = stage.client.call(Save, f"{NODE}/save", INPUTS)
        assert answer.success, answer.message
        assert len(list(recordings.glob("[!.]*"))) == 2
        assert "file_not_written.black_box" not in current_findings(stage)
        again = stage.client.call(Save, f"{NODE}/save", INPUTS)
        assert not again.success and "such a black box was written" in again.message


def test_an_error_writes_a_black_box_that_names_it(tmp_path: Path) -> None:
    """A robot description that is none."""
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), state__restore=False)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(3.0)
        stage.client.publish("/robot_description", String(data="<robot"), LATCHED)
        box = wait_for_box(tmp_path)
    report = json.loads((box / "report.json").read_text())["content"]
    assert report["reason"] in {f["name"] for f in report["findings"] if f["level"] == "error"}
    assert box.name.startswith("error-") and box.name.endswith(report["reason"])


def test_without_a_duration_nothing_is_kept(tmp_path: Path) -> None:
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), state__restore=False,
                         black_box__duration=0.0)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(4.0)
        wait_for_valid(stage)
        answer = stage.client.call(Save, f"{NODE}/save", Save.Request())
        assert answer.success and "black_box.duration is 0" in answer.message
    assert not (tmp_path / "recordings").exists()
