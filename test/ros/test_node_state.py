# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool, state and files of the node as another process sees them."""

import json
import resource
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import InertiaStamped  # noqa: E402
from node_client import get_estimate, wait_for_finding  # noqa: E402
from ros_process import PATIENCE, Robot, Stage, queued, time_message  # noqa: E402
from sensor_msgs.msg import Imu  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.srv import Save, SetShape, SetTool  # noqa: E402

NODE = "/inertial_id_node"
PARAMETERS = f"{NODE}/inertial_parameters"
STATE = "inertial_id_node.state.json"


def messages(stage):
    return stage.client.listen(InertialParameters, PARAMETERS)


def wait_for(stage, condition, timeout=PATIENCE):
    """The newest message, of those that arrive from now on, that fulfils a condition."""
    got = messages(stage)
    before = len(got)
    stage.client.spin_until(lambda: any(condition(m) for m in got[before:]), timeout)
    return next(m for m in reversed(got) if condition(m))


STORE = SetTool.Request.STORE


def set_tool(stage, **fields):
    return stage.client.call(SetTool, f"{NODE}/set_tool", SetTool.Request(**fields))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def lived(folder):
    """A node that stored its payload as the tool in a file, was saved, and is gone."""
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0, state__directory=str(folder))
        robot = Robot(stage.client)
        robot.publish_description()
        early = set_tool(stage, action=STORE)
        robot.play(6.0)
        last = wait_for(stage, lambda m: m.valid)
        stored = set_tool(stage, action=STORE,
                          name="gripper.json")
        robot.play(6.0)
        empty = wait_for(stage, lambda m: m.valid and m.tool_apart)
        answers = {
            "early": early, "stored": stored, "last": last, "empty": empty,
            "outside": set_tool(stage, action=SetTool.Request.LOAD, name="../gripper.json"),
            "missing": set_tool(stage, action=SetTool.Request.LOAD, name="missing.json"),
            "nonsense": set_tool(stage, action=9), "unnamed": set_tool(stage),
            "cleared": set_tool(stage, action=SetTool.Request.CLEAR)}
        (folder / "tools" / "link.json").symlink_to("/etc/hostname")
        answers["link"] = set_tool(stage, action=SetTool.Request.LOAD, name="link.json")
        (folder / "tools" / "link.json").unlink()
        robot.play(6.0)
        answers["all"] = wait_for(stage, lambda m: m.valid and not m.stale)
        answers["saved"] = stage.client.call(Save, f"{NODE}/save", Save.Request(
            name="gripper.json"))
        answers["loaded"] = set_tool(stage, action=SetTool.Request.LOAD, name="gripper.json")
        answers["reserved"] = stage.client.call(Save, f"{NODE}/save", Save.Request(name=STATE))
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text
    return answers


def test_without_an_estimate_there_is_nothing_to_store(lived):
    assert not lived["early"].success and "no estimate to store" in lived["early"].message


def test_storing_says_what_and_writes_the_file(lived, folder):
    assert lived["stored"].success
    assert f"tool of {lived['last'].inertia.m:.2f}" in lived["stored"].message[:17 + 6]
    tool = json.loads((folder / "tools" / "gripper.json").read_text())["content"]
    assert tool["phi"][0] == pytest.approx(lived["last"].inertia.m, rel=1e-2)
    assert np.shape(tool["covariance"]) == (10, 10)


def test_a_saved_estimate_does_not_replace_a_tool_of_the_same_name(lived, folder):
    assert lived["saved"].success and lived["saved"].path == str(folder / "saves" / "gripper.json")
    assert lived["loaded"].success


def test_with_the_tool_alone_nothing_is_carried(lived):
    assert lived["empty"].inertia.m < 0.05 * lived["last"].inertia.m
    assert "nothing is carried beside the tool" in lived["empty"].status


@pytest.mark.parametrize(("answer", "said"), [
    ("outside", "plain file name"), ("missing", "there are: gripper.json"),
    ("nonsense", "action is 9"),
    ("unnamed", "action is 0; allowed: 1 (load)"),
    ("link", "outside"), ("reserved", "node's own")])
def test_bad_requests_are_refused_in_words(lived, answer, said):
    assert not lived[answer].success and said in lived[answer].message


def test_clearing_gives_all_there_is_again(lived):
    assert lived["cleared"].success and not lived["all"].tool_apart
    assert lived["all"].inertia.m == pytest.approx(lived["last"].inertia.m, rel=0.02)


def test_the_next_run_begins_with_the_tool(lived, folder):
    with Stage() as stage:
        node = stage.start_node(state__directory=str(folder))
        node.wait_for_text("restored: tool of")
        response = set_tool(stage, action=SetTool.Request.CLEAR)
        assert response.success
        node.stop()


def test_a_restored_estimate_is_stale_and_not_a_parameter_or_plain_inertia(lived, folder):
    tree = json.loads((folder / STATE).read_text())
    assert tree["content"]["tool"] is None  # the run before cleared it
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0, state__directory=str(folder))
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        wait_for(stage, lambda m: m.valid and not m.stale)
        assert stage.client.call(Save, f"{NODE}/save").success
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0, state__directory=str(folder))
        plain = stage.client.listen(InertiaStamped, f"{NODE}/inertia")
        message = wait_for(stage, lambda m: m.valid)
        assert message.stale and "earlier run" in message.status
        assert not plain


def test_a_damaged_state_is_said_and_set_aside(lived, folder):
    (folder / STATE).write_text('{"format": "inertial_id_ros state", "version": 1, "con')
    with Stage() as stage:
        node = stage.start_node(state__directory=str(folder))
        node.wait_for_text("set aside")
        assert (folder / f"{STATE}.damaged").exists() and not (folder / STATE).exists()
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text


def test_what_a_full_disk_keeps_from_being_saved_is_not_used(tmp_path):
    """No file of the node may be larger than 100 bytes, for a while."""
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0, state__directory=str(tmp_path))
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        before = wait_for(stage, lambda m: m.valid)
        assert stage.client.call(Trigger, f"{NODE}/untare").success
        kept = (tmp_path / STATE).read_bytes()
        _, most = resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (100, most))
        robot.play(1.5, rest=True)  # so that a tare is possible
        calls = [("tool", set_tool(stage, action=STORE)),
                 ("file", set_tool(stage, action=STORE, name="gripper.json")),
                 ("tare", stage.client.call(Trigger, f"{NODE}/tare")),
                 ("save", stage.client.call(Save, f"{NODE}/save"))]
        for what, answer in calls:
            assert not answer.success and "cannot write" in answer.message, what
        for what, answer in calls[:3]:
            assert answer.message.endswith("tool, tare and estimate are as before"), what
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (most, most))
        after = get_estimate(stage).parameters
        assert after.valid and not after.tool_apart
        assert after.inertia.m == pytest.approx(before.inertia.m, rel=0.02)
        assert (tmp_path / STATE).read_bytes() == kept
        assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*")) == [STATE]
        assert set_tool(stage, action=STORE, name="gripper.json").success


def test_the_payload_that_the_driver_removes_is_read_from_its_topic(tmp_path):
    with Stage() as stage:
        node = stage.start_node(
            estimator__rate=4.0, state__directory=str(tmp_path), precompensated__source="inertia",
            precompensated__topic="/payload", precompensated__program_topic="/running")
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(2.0)
        assert "waiting for the payload" in wait_for(
            stage, lambda m: "waiting for the payload" in m.status).status
        told = InertiaStamped()
        told.header.frame_id, told.inertia.m = "ft_sensor", 0.5
        for _ in range(3):  # a best-effort message to a new reader may be lost
            stage.client.publish("/payload", told)
            robot.play(2.0)
        with_it = wait_for(stage, lambda m: m.valid)
        truth = robot.cobot.payload.mass
        assert with_it.inertia.m == pytest.approx(truth + 0.5, rel=0.02)
        stage.client.publish("/running", Bool(data=False))
        robot.play(0.5)
        stage.client.publish("/running", Bool(data=True))
        wait_for(stage, lambda m: not m.valid)
        node.wait_for_text("program started")


def test_the_imu_of_the_base_is_waited_for_and_read(tmp_path):
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0, state__directory=str(tmp_path),
                         base_imu__topic="/imu")
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(2.0)
        wait_for(stage, lambda m: "no base IMU on '/imu' received" in m.status)

        def publish_reading(stamp):
            message = Imu()
            message.header.stamp, message.header.frame_id = time_message(stamp), "base_link"
            message.linear_acceleration.z = 9.81
            stage.client.publish("/imu", message, 1000)

        robot.play(8.0, each=publish_reading)
        found = wait_for(stage, lambda m: m.valid)
        assert found.inertia.m == pytest.approx(robot.cobot.payload.mass, rel=0.02)


def resident(process):
    """Resident memory [MB]."""
    lines = open(f"/proc/{process.process.pid}/status").read().splitlines()
    return int(next(x for x in lines if x.startswith("VmRSS")).split()[1]) / 1024


def test_a_home_that_cannot_be_written_is_told_and_does_not_stop_the_node(monkeypatch, tmp_path):
    """The folder is the default's; one that the user names must be of use (test_saving)."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    with Stage() as stage:
        stage.start_node(state__directory=Settings().state.directory)
        wait_for_finding(stage, "file_not_written.state", "the state of this run is not kept")
        cleared = set_tool(stage, action=SetTool.Request.CLEAR)
        assert cleared.success and "the next run will not know" in cleared.message


def test_services_in_a_tight_loop_do_not_starve_the_estimate_nor_grow_memory(tmp_path):
    """Half of the estimates per second, at least, while a client calls without a pause, in the time
    that the machine has for them."""
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0, state__directory=str(tmp_path),
                                black_box__duration=0.0)  # it needs memory, too
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        wait_for(stage, lambda m: m.valid)
        shape = SetShape.Request()
        shape.primitive.type, shape.primitive.dimensions = 1, [0.1, 0.1, 0.1]
        clients = [(stage.client.node.create_client(SetShape, f"{NODE}/set_shape"), shape),
                   (stage.client.node.create_client(Save, f"{NODE}/save"), Save.Request()),
                   (stage.client.node.create_client(Trigger, f"{NODE}/tare"), Trigger.Request())]
        calls, sizes, began = 0, [], time.monotonic()
        waits = queued(node.process.pid)
        got = messages(stage)
        before = len(got)

        def call(_stamp):
            nonlocal calls
            for client, request in clients:
                client.call_async(request)
                calls += 1
            stage.client.executor.spin_once(timeout_sec=0.0)

        for _ in range(10):
            robot.play(4.0, speed=2.0, each=call)
            sizes.append(resident(node))
        seconds = time.monotonic() - began
        busy = queued(node.process.pid) - waits
        stage.client.spin_until(lambda: len(got) > before)
        valid = [m for m in got[before:] if m.valid]
        print(f"{calls} calls in {seconds:.1f} s, {len(valid)} estimates, "
              f"resident {[round(s, 1) for s in sizes]} MB")
        assert len(valid) >= max(2.0 * (seconds - busy), 0.5 * seconds)
        # The allocator takes and returns ten megabytes at a time, so that only the median of the
        # growths tells of a leak. What any call makes and could leak, a request with its response,
        # is above a kilobyte; a shape is a hundred.
        assert 1024.0 * np.median(np.diff(sizes)) / (calls / 10) < 1.0  # kB a call
