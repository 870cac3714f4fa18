"""Damaged inputs end in a correct run or in one sentence: some cases of the large campaign."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import mutations  # noqa: E402


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("originals")
    mutations.make_originals(folder)
    return folder


def test_the_originals_are_sound(originals: Path) -> None:
    for words in (["mcap"], ["sqlite3", "--urdf", "robot.urdf"], ["mcap", "--config",
                                                                  "settings.yaml"]):
        status, _, err = mutations.run_here(
            [w if w.startswith("--") else str(originals / w) for w in words])
        assert status == 0, (words, err)


@pytest.mark.parametrize("first", range(0, 30, 6))
def test_a_damaged_input_ends_in_a_run_or_in_one_sentence(originals: Path, first: int) -> None:
    for seed in range(5000 + first, 5000 + first + 6):
        result = mutations.run_case(seed, originals)
        assert result.verdict == "ok", (seed, result)


def test_the_judge_knows_a_bad_answer(tmp_path: Path) -> None:
    judge = mutations.judge
    assert judge(2, "", "error: no.\n", tmp_path) == "ok"
    assert judge(2, "", "error: no.\nmore\n", tmp_path) != "ok"
    assert judge(2, "", "", tmp_path) != "ok"
    assert judge(0, "", "Traceback (most recent call last)", tmp_path) == "traceback"
    assert judge(0, "", "UserWarning: x", tmp_path) != "ok"
    assert judge(-11, "", "", tmp_path) != "ok"


@pytest.mark.parametrize("text", [
    "a: &a [1, 1]\nb: [*a, *a]\n", "[" * 5000, "wrench:\n  force_noise: 2001-99-99\n",
    "x: " + "9" * 10_000, "? {a: b}\n: c\n", "estimator.method: " + "A" * 100_000, "- a\n",
    "a: !!python/object:os.system x\n", "\x00", "wrench: 5\n", "null: 1\n"])
def test_settings_of_bad_yaml_are_refused_in_one_sentence(
        originals: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    status, _, err = mutations.run_here([str(originals / "mcap"), "--config", str(path)])
    assert status == 2 and err.count("\n") == 1 and err.startswith("error: ") and len(err) < 2000
