# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Offline identification: cadence, results, report, files, and errors of the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bags
import numpy as np
import pytest

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.bag.offline import ADVANCE_PERIOD, identify
from inertial_id_ros.apps.bag.output import replace_when_complete, write_json
from inertial_id_ros.apps.bag.reader import BagReader
from inertial_id_ros.apps.bag.topics import select_topics
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.estimate import NoEstimate
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.io import messages
from inertial_id_ros.settings import Settings
from inertial_id_ros.signals import inbox

ROOT = Path(__file__).resolve().parents[2]
TRUTH = bags.Payload()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recordings of the same payload and motion in several forms."""
    path = tmp_path_factory.mktemp("bags")
    bags.tf_bag(path / "tf", duration=5.0)
    bags.joint_bag(path / "joint", duration=5.0)
    bags.joint_bag(path / "joint_sql", duration=5.0, storage="sqlite3")
    bags.tf_bag(path / "franka", duration=5.0, convention="on_environment")
    bags.tf_bag(path / "short", duration=0.3)
    bags.write_bag(path / "two", [bags.wrench_stream(1.0, TRUTH, topic="/a"),
                                  bags.wrench_stream(1.0, TRUTH, topic="/b")])
    bags.write_bag(path / "bare", [bags.joint_stream(1.0)])
    bags.write_bag(path / "motionless", [
        bags.wrench_stream(1.0, TRUTH), bags.text_stream("/robot_description", bags.URDF)])
    return path


def run(*words, capsys):
    """Exit status, standard output and standard error of the command line."""
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def strict_json(path):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")
    return json.loads(Path(path).read_text(), parse_constant=refuse)


# ---- cadence ------------------------------------------------------------------------------------

class Recorder:
    """A pipeline that only notes what it is asked, in order."""

    waiting, frames = 0, frozenset()

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def note(*arguments):
            self.calls.append((name, arguments))
            settled = SimpleNamespace(stamps_ns=np.empty(0), wrench=np.empty((0, 6)))
            return {"solve": NoEstimate(0, "", "none"), "findings": (), "advance": settled,
                    "finish": settled}.get(name)
        return note

    def add_serialized(self, kind, data):
        """As the inbox, which decodes messages when their turn comes."""
        sink = {inbox.WRENCH: "add_wrench", inbox.JOINT_STATE: "add_joint_state",
                inbox.TRANSFORM: "add_transform", inbox.STATIC_TRANSFORM: "add_static_transform"}
        take = getattr(self, sink[kind])
        messages.take_serialized(inbox._MESSAGES[kind], data, take, FindingLog())

    def add_all_serialized(self, arrived):
        for kind, data in arrived:
            self.add_serialized(kind, data)

    def names(self):
        return [name for name, _ in self.calls]


def recorded_run(path, **changes):
    settings = Settings().replace({k.replace("__", "."): v for k, v in changes.items()})
    pipeline = Recorder()
    with BagReader(path) as recording:
        result = identify(recording, select_topics(recording.topics, settings), pipeline, settings)
    return pipeline, result


@pytest.mark.slow
def test_estimates_are_made_at_the_timer_rate_of_the_recorded_time(folder):
    _, result = recorded_run(folder / "tf", estimator__rate=4.0)
    times = [s.time for s in result.history]
    assert np.allclose(times[:-1], 0.25 * np.arange(1, 20)) and times[-1] == pytest.approx(4.995)


def test_each_estimate_has_seen_exactly_the_messages_recorded_before_its_tick(folder):
    pipeline, result = recorded_run(folder / "tf", estimator__rate=2.0)
    wrenches, seen = 0, []
    for name in pipeline.names():
        wrenches += name == "add_wrench"
        if name == "solve":
            seen.append(wrenches)
    # 200 Hz: 100 samples lie in [0 s, 0.5 s), and the tick precedes a message at the same time.
    assert seen[:9] == [100 * k for k in range(1, 10)] and seen[-1] == 1000


def test_every_estimate_follows_an_advance_and_the_last_one_a_finish(folder):
    names = [n for n in recorded_run(folder / "tf")[0].names() if not n.startswith("add_")]
    solves = [k for k, name in enumerate(names) if name == "solve"]
    assert all(names[k - 1] == "advance" for k in solves[:-1])
    assert names[-3:] == ["finish", "solve", "findings"]


def test_the_pipeline_is_advanced_often_when_estimates_are_rare(folder):
    names = recorded_run(folder / "tf", estimator__rate=0.1)[0].names()
    assert names.count("advance") >= 4.9 / ADVANCE_PERIOD - 1 and names.count("solve") == 1


def test_latched_topics_come_first_wherever_they_lie_in_the_recording(tmp_path):
    late = bags.START + 500_000_000
    path = bags.write_bag(tmp_path / "bag", [
        bags.wrench_stream(1.0, TRUTH), bags.static_tf_stream(log_time=late),
        bags.text_stream("/robot_description", bags.URDF, log_time=late)])
    names = recorded_run(path)[0].names()
    first = names.index("add_wrench")
    assert {"set_robot_description", "add_static_transform"} <= set(names[:first])
    assert names.count("set_robot_description") == 1


def test_messages_carry_their_header_stamps_frames_and_values(folder):
    pipeline, _ = recorded_run(folder / "tf")
    stamp, frame, force, torque = next(a for n, a in pipeline.calls if n == "add_wrench")
    assert (stamp, frame) == (bags.START, "sensor")
    assert np.allclose([*force, *torque], bags.wrench(np.zeros(1), TRUTH)[0], atol=0.3)
    stamp, parent, child, position, quaternion = next(
        a for n, a in pipeline.calls if n == "add_transform")
    assert (stamp, parent, child) == (bags.START, "base", "sensor")
    assert np.allclose(position, bags.OFFSET) and np.allclose(quaternion, [0, 0, 0, 1])


def test_a_silence_of_hours_does_not_make_thousands_of_estimates(tmp_path):
    before, after = bags.wrench_stream(1.0, TRUTH), bags.wrench_stream(1.0, TRUTH)
    later = [(t + 7200 * 10**9, m) for t, m in after.samples]
    path = bags.write_bag(tmp_path / "bag", [
        bags.Stream("/wrench", bags.WRENCH, [*before.samples, *later])])
    pipeline, result = recorded_run(path)
    assert pipeline.names().count("solve") < 30
    ticks = [s.time for s in result.history[:-1]]
    assert np.allclose(np.mod(ticks, 0.5), 0.0) and ticks[-1] == pytest.approx(7200.5)
    # The first ten seconds are ticked through, as live; then the timers fall silent.
    assert max(t for t in ticks if t < 7000.0) == pytest.approx(10.5)


# ---- results ------------------------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), [
    ("tf", []), ("joint", []), ("joint_sql", []), ("franka", ["--convention", "on_environment"])])
def test_the_payload_that_made_the_recording_is_found_within_its_interval(
        folder, tmp_path, capsys, name, words):
    status, out, err = run(folder / name, *words, "--json", tmp_path / "o.json", capsys=capsys)
    assert status == 0 and err == ""
    result = strict_json(tmp_path / "o.json")
    sigma = np.sqrt(np.diag(result["covariance"]))
    inertia = np.array(result["inertia_com"])[np.triu_indices(3)]
    errors = np.r_[result["mass"] - TRUTH.mass, np.array(result["com"]) - TRUTH.com,
                   inertia - TRUTH.inertia[np.triu_indices(3)]]
    assert result["valid"] and result["frame_id"] == "sensor"
    assert abs(errors[0]) < 0.005 and np.abs(errors[1:4]).max() < 5e-4
    assert np.abs(errors[4:]).max() < 3e-4  # kg m^2; the moments are 2e-3 to 4e-3
    assert np.all(np.abs(errors) < 5.0 * sigma)
    assert np.allclose(result["bias"], TRUTH.bias, atol=[0.05] * 3 + [0.005] * 3)
    assert "Mass is identified" in out and "sensor" in out


def test_the_history_is_what_the_same_pipeline_gives_when_driven_by_hand(folder, tmp_path, capsys):
    run(folder / "tf", "--json", tmp_path / "o.json", capsys=capsys)
    history = strict_json(tmp_path / "o.json")["history"]
    pipeline = Identifier(Settings())
    pipeline.add_static_transform("map", "base", (0, 0, 0), (0, 0, 0, 1))
    with BagReader(folder / "tf") as recording:
        ticks = [bags.START + round(e["t"] * 1e9) for e in history if e["t"] < 3.01]
        for topic, time, m in recording.messages({"/wrench": bags.WRENCH, "/tf": bags.TF}):
            if time >= ticks[0]:
                pipeline.advance()
                by_hand = pipeline.solve()
                if len(ticks) == 1:
                    break
                ticks.pop(0)
            if topic == "/wrench":
                f, t = m.wrench.force, m.wrench.torque
                pipeline.add_wrench(time, "sensor", (f.x, f.y, f.z), (t.x, t.y, t.z))
            else:
                p, q = m.transforms[0].transform.translation, m.transforms[0].transform.rotation
                pipeline.add_transform(time, "base", "sensor", (p.x, p.y, p.z),
                                       (q.x, q.y, q.z, q.w))
    entry = next(e for e in history if e["t"] == pytest.approx(3.0))
    assert entry["mass"] == pytest.approx(by_hand.body.mass, rel=1e-6)
    assert np.allclose(entry["inertia_com"], by_hand.body.inertia_com, rtol=1e-4, atol=1e-9)


def test_json_has_the_promised_keys_and_a_history_without_numbers_before_the_first_estimate(
        folder, tmp_path, capsys):
    run(folder / "joint", "--json", tmp_path / "o.json", capsys=capsys)
    result = strict_json(tmp_path / "o.json")
    assert {"mass", "com", "inertia_com", "frame_id", "covariance", "bias", "valid", "method",
            "residual_rms", "samples", "diagnostics", "history"} <= result.keys()
    assert np.shape(result["covariance"]) == (10, 10) and len(result["residual_rms"]) == 6
    first, last = result["history"][0], result["history"][-1]
    assert not first["valid"] and first["mass"] is None and first["sigma"] is None
    assert last["valid"] and last["mass"] == result["mass"] and len(last["sigma"]) == 10
    assert last["verdict"] == result["verdict"] and last["t"] == pytest.approx(4.995)


@pytest.mark.slow
def test_without_an_estimate_the_status_is_one_and_json_holds_no_numbers(folder, tmp_path, capsys):
    status, out, _ = run(folder / "short", "--json", tmp_path / "o.json", capsys=capsys)
    result = strict_json(tmp_path / "o.json")
    assert status == 1 and "No estimate" in out
    assert not result["valid"] and result["mass"] is None and result["covariance"] is None
    assert result["diagnostics"][0] in " ".join(out.lower().split())


@pytest.mark.slow
def test_the_wrong_convention_gives_no_estimate_and_says_why(folder, capsys):
    status, out, _ = run(folder / "franka", capsys=capsys)
    assert status == 1 and "wrench.convention" in out


@pytest.mark.slow
def test_a_recording_of_two_publishers_gives_no_estimate_and_says_why(tmp_path, capsys):
    """Half of the mass, without any residual, used to come out."""
    true, joints = bags.wrench_stream(4.0, TRUTH), bags.joint_stream(4.0)
    stamped = type(true.samples[0][1])
    nothing = type(true.samples[0][1].wrench)(*(
        type(true.samples[0][1].wrench.force)(0.0, 0.0, 0.0) for _ in range(2)))
    both = [sample for stamp, message in true.samples for sample in (
        (stamp, message), (stamp + 1_700_000, stamped(
            header=bags.header(stamp + 1_700_000, "sensor"), wrench=nothing)))]
    bags.write_bag(tmp_path / "both", [
        bags.Stream("/wrench", bags.WRENCH, both), joints,
        bags.text_stream("/robot_description", bags.URDF)])
    status, out, _ = run(tmp_path / "both", capsys=capsys)
    assert status == 1 and "two publishers" in " ".join(out.split())


def test_the_drawn_model_follows_the_measured_wrench(folder):
    from inertial_id_ros.apps.report.results import wrench_curves
    settings = Settings()
    with BagReader(folder / "joint") as recording:
        result = identify(recording, select_topics(recording.topics, settings),
                          Identifier(settings), settings, keep_trace=True)
    curves = wrench_curves(result.trace)
    known = np.isfinite(curves.model[:, 0]) & (curves.time > 2.0)
    error = (curves.measured - curves.model)[known]
    assert known.sum() > 200 and np.ptp(curves.measured[known], axis=0).min() > 1.0
    assert np.all(np.sqrt((error**2).mean(axis=0)) < [0.1] * 3 + [0.005] * 3)
    truth = bags.wrench(curves.time[known], TRUTH)
    assert np.abs(curves.model[known] - truth)[:, :3].max() < 0.5


def test_a_frame_that_forges_lines_is_printed_as_one(tmp_path, capsys):
    forged = "sensor\n[ERROR] stop\x1b[31m"
    bags.write_bag(tmp_path / "bag", [bags.wrench_stream(2.0, TRUTH, frame=forged),
                                      bags.tf_stream(2.0)])
    for words, ends in ((["--sensor-frame", "sensor"], 0), ([], 2)):
        status, out, err = run(tmp_path / "bag", *words, capsys=capsys)
        lines = (out + err).splitlines()
        assert status == ends and r"sensor\n[ERROR]stop\x1b" in "".join((out + err).split())
        assert all(line.isprintable() and not line.startswith("[ERROR]") for line in lines)


def test_quiet_prints_nothing(folder, capsys):
    assert run(folder / "tf", "--quiet", capsys=capsys) == (0, "", "")


# ---- errors -------------------------------------------------------------------------------------

OPEN_MESH = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n" \
            "endloop\nendfacet\nendsolid s\n"


@pytest.mark.slow
@pytest.mark.parametrize(("bag", "words", "text"), [
    ("absent", [], "does not exist"),
    ("two", [], "2 wrench topics: /a, /b"),
    ("bare", [], "holds no wrench"),
    ("motionless", [], "joint states (/joint_states) or transforms (/tf) are needed, and neither"),
    ("tf", ["--wrench-topic", "/tf"], "/tf is of type tf2_msgs/msg/TFMessage"),
    ("tf", ["--wrench-topic", "/rwench"], "did you mean /wrench?"),
    ("tf", ["--joint-states-topic", "/js"], "joint state topic /js is not in the recording"),
    ("tf", ["--sensor-frame", "sensr"], "sensor frame 'sensr' is neither"),
    ("joint", ["--sensor-frame", "sensr"], "sensor frame 'sensr' is neither"),
    ("tf", ["--gravity-frame", "wrold"], "gravity frame 'wrold' is neither"),
    ("tf", ["--convention", "sideways"], "wrench.convention is 'sideways'; allowed: on_sensor"),
    ("tf", ["--method", "magic"], "estimator.method is 'magic'; allowed:"),
    ("tf", ["--set", "estimator.rate=-1"], "estimator.rate is -1"),
    ("tf", ["--set", "estimator.rate"], "write NAME=VALUE"),
    ("tf", ["--set", "estimator.speed=1"], "unknown setting 'estimator.speed'"),
    ("tf", ["--box", "1,2,3"], "--box has 3 numbers; it needs six"),
    ("tf", ["--box", "0.1,0.1,0.1,0,0,a"], "separated by commas"),
    ("tf", ["--box", "0,0.1,0.1,0,0,0"], "shape.size is 0"),
    ("tf", ["--shape", "sphere:0.1,0.2"], "a sphere needs 1 positive size"),
    ("tf", ["--mesh", "{tmp}/absent.stl"], "absent.stl does not exist"),
    ("tf", ["--mesh", "{tmp}/open.stl"], "is not a watertight mesh"),
    ("tf", ["--box", "1,1,1,0,0,0", "--mesh", "m.stl"], "not allowed with argument"),
    ("tf", ["--urdf", "{tmp}/absent.urdf"], "absent.urdf cannot be read"),
    ("tf", ["--urdf", "{tmp}/bad.urdf"], "is not a usable URDF"),
    ("tf", ["--config", "{tmp}/absent.yaml"], "absent.yaml cannot be read"),
    ("tf", ["--config", "{tmp}/bad.yaml"], "bad.yaml cannot be used: it is not valid YAML"),
    ("tf", ["--config", "{tmp}/list.yaml"], "must hold names and values, not a list"),
    ("tf", ["--json", "{tmp}/absent/o.json"], "folder {tmp}/absent does not exist"),
    ("tf", ["--json", "{tmp}"], "is a folder; name a file"),
    ("tf", ["--speed", "3"], "unrecognized arguments: --speed 3"),
])
def test_user_errors_are_one_sentence_with_status_two(folder, tmp_path, capsys, bag, words, text):
    (tmp_path / "open.stl").write_text(OPEN_MESH)
    (tmp_path / "bad.urdf").write_text("<robot><link name='a'>")
    (tmp_path / "bad.yaml").write_text("wrench: [1, 2")
    (tmp_path / "list.yaml").write_text("- 1\n- 2\n")
    words = [word.format(tmp=tmp_path) for word in words]
    status, out, err = run(folder / bag, *words, capsys=capsys)
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and text.format(tmp=tmp_path) in err and err.count("\n") == 1


def test_an_estimator_that_needs_a_shape_asks_for_one(folder, capsys):
    status, _, err = run(folder / "tf", "--method", "entropic", capsys=capsys)
    assert status == 2 and "needs the shape" in err


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "o.json"
    path.write_text("old")
    with pytest.raises(InvalidSetting, match="o.json cannot be written: no space"), \
            replace_when_complete(path) as temporary:
        temporary.write_text("half")
        raise OSError("no space")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_json_has_null_where_a_number_is_not_finite(tmp_path):
    write_json(tmp_path / "o.json", {"a": float("nan"), "b": [1.0, float("inf")]})
    assert strict_json(tmp_path / "o.json") == {"a": None, "b": [1.0, None]}


@pytest.mark.slow
def test_as_a_process_it_needs_no_ros_and_shows_no_progress_bar_off_a_terminal(folder):
    code = ("import sys; sys.modules['rclpy'] = None\n"
            "from inertial_id_ros.apps.bag.identify_bag import main; sys.exit(main())")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code, str(folder / "tf")], env=env,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "" and "identified" in done.stdout


# ---- real recordings ----------------------------------------------------------------------------

def test_a_real_one_axis_recording_gives_mass_and_com_but_no_inertia(data_folder, tmp_path, capsys):
    status, out, _ = run(data_folder / "kuka_ati_gamma" / "baseline", "--wrench-topic",
                         "/ft_sensor/wrench", "--sensor", "ati_gamma",
                         "--set", "alignment.position_sd=0",  # its frame is where its origin is
                         "--json", tmp_path / "o.json", capsys=capsys)
    result = strict_json(tmp_path / "o.json")
    assert status == 0 and result["frame_id"] == "ft_sensor"
    assert result["mass"] == pytest.approx(0.933, rel=0.03)
    assert result["com"][2] == pytest.approx(0.0439, abs=0.002)
    assert result["bias"][:3] == pytest.approx([9.077, -1.018, 9.985], abs=0.6)
    assert set(result["verdict"][:4]) == {"identified"}
    assert "identified" not in result["verdict"][4:]
    assert "inertia is not identified by this motion" in " ".join(out.split())


def test_contact_in_a_real_recording_is_left_out_and_said(data_folder, tmp_path, capsys):
    status, out, _ = run(data_folder / "kuka_ati_gamma" / "contact", "--sensor", "ati_gamma",
                         "--set", "alignment.position_sd=0",  # its frame is where its origin is
                         "--json", tmp_path / "o.json", capsys=capsys)
    result = strict_json(tmp_path / "o.json")
    assert status == 0 and set(result["verdict"][1:4]) == {"identified"}
    assert any(text.startswith("contact left out (once so far") for text in result["diagnostics"])
    assert "contact left out" in " ".join(out.split())
