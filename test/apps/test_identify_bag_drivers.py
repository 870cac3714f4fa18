"""What a recording lacks, or holds of its driver, as `identify_bag` says it."""

import json
from pathlib import Path

import bags
import pytest

from inertial_id_ros.apps.bag.identify_bag import main

ROOT = Path(__file__).resolve().parents[2]
TRUTH = bags.Payload()
UR_WRENCH = "/force_torque_sensor_broadcaster/wrench"


def run(*words, capsys):
    """Exit status, standard output in one line, and standard error of the command line."""
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, " ".join(out.split()), err


@pytest.mark.slow
def test_the_configuration_of_ur_works_on_a_recording_without_the_program_topic(tmp_path, capsys):
    bag = bags.write_bag(tmp_path / "bag", [
        bags.wrench_stream(5.0, TRUTH, topic=UR_WRENCH), bags.joint_stream(5.0),
        bags.text_stream("/robot_description", bags.URDF)])
    words = [bag, "--config", ROOT / "config/ur.yaml", "--sensor-frame", "sensor"]
    status, out, _ = run(*words, capsys=capsys)
    assert status == 0
    assert "warning: program topic /io_and_status_controller/robot_program_running is not in" in out
    status, _, err = run(*words, "--set", "precompensated.program_topic=/started", capsys=capsys)
    assert status == 2 and "program topic /started is not in the recording" in err


@pytest.mark.slow
def test_the_report_says_how_much_of_the_recording_is_used_and_the_whole_can_be(tmp_path, capsys):
    bag, result = bags.joint_bag(tmp_path / "bag", duration=8.0), tmp_path / "result.json"
    used = {}
    for words in (["--window", "3"], ["--window", "all"], []):
        status, out, _ = run(bag, "--json", result, *words, capsys=capsys)
        tree = json.loads(result.read_text())
        assert status == 0
        assert ("only the last 3 s of 8 s" in out and "--window all" in out) == ("3" in words)
        used["".join(words)] = tree["window"], tree["history"][-1]["sigma"][0]
    assert used["--window3"][0] < 4.0 < 7.0 < used["--windowall"][0]
    assert used["--windowall"][1] < used["--window3"][1]
    assert used["--windowall"] == used[""]
    long = bags.joint_bag(tmp_path / "long", duration=3.0, extra=[bags.text_stream(
        "/end", "", bags.START + 3700 * 10**9)])
    status, out, _ = run(long, "--window", "all", capsys=capsys)
    assert status == 0 and "the last 3600 s of 3700 s" in out and "the most allowed" in out
