# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was learnt, as bytes: another identifier goes on to the bit; others are refused."""

from __future__ import annotations

import os
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from disturbed import clean
from synthetic import START, URDF, Recording, identifier

from inertial_id_ros.errors import DamagedFile, InertialIdError
from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.identification.checkpoint import (
    make_checkpoint,
    program_digest,
    use_checkpoint,
)
from inertial_id_ros.identification.wrench.identifier import Identifier

HALF = START + 5_000_000_000


def run(made: Identifier, samples: Recording) -> list[Outcome]:
    """The outcomes of an identifier that solves every half second."""
    outcomes: list[Outcome] = []
    due = samples.messages[0][0] + 500_000_000
    for stamp, method, arguments in samples.messages:
        if stamp >= due:
            due += 500_000_000
            made.advance()
            outcomes.append(made.solve())
        getattr(made, method)(*arguments)
    return outcomes


def assert_same(a: Outcome, b: Outcome) -> None:
    """To the bit, findings included."""
    assert type(a) is type(b)
    for item in fields(a):
        if item.name == "solve_time":
            continue
        one, other = getattr(a, item.name), getattr(b, item.name)
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes(), item.name
        else:
            assert one == other or one != one, item.name


@pytest.mark.parametrize("method", ["wls", "density"])
def test_another_identifier_goes_on_to_the_bit(method: str) -> None:
    """With noise and drift that were learnt, and samples that wait."""
    options: dict[str, Any] = {"estimator__method": method, "estimator__estimate_noise": True,
                               "wrench__sensor": "unknown", "buffer__window": 6.0}
    samples = clean(10.0)
    first, second = (samples.select(lambda s, _, late=late: (s >= HALF) == late)
                     for late in (False, True))
    whole = identifier(**options)
    run(whole, first)
    whole.advance()
    data = make_checkpoint(whole)
    other = identifier(urdf=None, **options)
    run(other, samples.moved(77_000_000_000))
    use_checkpoint(other, data)
    assert other.robot_description == URDF
    expected, got = run(whole, second), run(other, second)
    assert len(got) == len(expected) >= 9 and isinstance(got[-1], Estimate)
    for a, b in zip(got, expected, strict=True):
        assert_same(a, b)


def test_it_is_not_made_while_another_description_waits() -> None:
    """The model in use is then not the one of the newest text."""
    made = identifier()
    run(made, clean(3.0))
    made.advance()
    make_checkpoint(made)
    made.set_robot_description(URDF.replace("<robot ", "<robot version='1.0' "))
    with pytest.raises(InertialIdError, match="another robot description"):
        make_checkpoint(made)


class Evil:
    """Runs a command where a pickle is read carelessly."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize("data", [
    b"", b"\x80\x05", pickle.dumps([1, 2]), pickle.dumps({"_stream": 3}), os.urandom(1000),
    pickle.dumps(Evil(eval, "1 + 1")), pickle.dumps(Evil(getattr, Identifier, "solve")),
    pickle.dumps(Path("/tmp")), b"cinertial_id_ros.identification.checkpoint\nimportlib\n."])
def test_other_bytes_are_refused_and_change_nothing(data: bytes) -> None:
    made = identifier()
    samples = clean(3.0)
    run(made, samples)
    before = made.solve()
    with pytest.raises(DamagedFile):
        use_checkpoint(made, data)
    assert_same(made.solve(), before)


def test_a_command_in_the_bytes_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "made"
    with pytest.raises(DamagedFile, match="does not belong"):
        use_checkpoint(identifier(), pickle.dumps(Evil(os.system, f"touch {file}")))
    assert not file.exists()


def test_a_robot_that_is_none_is_refused() -> None:
    made = identifier()
    data = make_checkpoint(made)
    assert b"<robot" in data
    with pytest.raises(DamagedFile):
        use_checkpoint(identifier(), data.replace(b"<robot", b"<robin"))


def test_the_digest_names_this_program() -> None:
    assert len(program_digest()) == 64
