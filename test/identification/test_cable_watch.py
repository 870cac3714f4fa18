# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A cable that looks like a tilt first, and how long one that may be there widens intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.accuracy.real_sensors.identify import identifier_of
from benchmarks.accuracy.real_sensors.recordings import simulate
from inertial_id_ros.api import Estimate, Identifier, Settings
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.estimate import Outcome
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.wrench import cable_watch, force_watch
from inertial_id_ros.identification.wrench.cable_watch import CableWatch
from inertial_id_ros.identification.wrench.force_watch import ForceWatch
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.uncertainty.cable import CERTAIN, Cable, Places
from inertial_id_ros.regression.uncertainty.room_force import RoomForce

NOTHING = np.zeros(9)
PLACES = Places(np.eye(3)[None], np.zeros((1, 3)), np.zeros(3))


def likely(problem: Any, last: Cable | None) -> tuple[Cable, bool]:
    """A cable of which there is some doubt, and no payload that is poured out."""
    return (Cable(np.r_[0.0, 0.0, 1.0, 2.0, np.zeros(4)], PLACES, np.ones((1, 6)),
                  1e-2 * np.eye(10), np.zeros(10), np.zeros(1), np.ones(1), CERTAIN - 1.0), False)


def window(first: int, last: int) -> Any:
    """A window between two bins, as far as it matters here."""
    return SimpleNamespace(first=first, last=last, factors={}, cross_channel=None)


def test_a_likely_cable_is_forgotten_with_the_last_row_that_made_it_so(
        monkeypatch: pytest.MonkeyPatch) -> None:
    unexplained = 0.5  # N
    problems: Any = SimpleNamespace(
        unexplained_force=lambda window, problem: unexplained,
        cable_input=lambda window: object())
    monkeypatch.setattr(cable_watch, "find_cable", likely)
    monkeypatch.setattr(CableWatch, "_is_turned",
                        staticmethod(lambda problems, cable, removed: False))
    watch, log, problem = CableWatch(9.81), FindingLog(), SimpleNamespace()
    assert not watch.phi_covariance().any()
    assert watch.search(problems, window(0, 500), problem, NOTHING) is None  # type: ignore[arg-type]
    watch.report(log)
    assert watch.phi_covariance().any() and not log.all()
    unexplained = 0.0
    watch.search(problems, window(400, 900), problem, NOTHING)  # type: ignore[arg-type]
    assert watch.phi_covariance().any()  # some of the rows are still there
    watch.search(problems, window(501, 1300), problem, NOTHING)  # type: ignore[arg-type]
    assert not watch.phi_covariance().any()


def test_no_cable_is_certain_beside_a_payload_that_is_not_rigid(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """What swings looked like a pull of 3 N, and the mass was off by six standard deviations."""
    cable = likely(None, None)[0]._replace(evidence=2.0 * CERTAIN)
    problems: Any = SimpleNamespace(unexplained_force=lambda window, problem: 0.5,
                                    cable_input=lambda window: object())
    monkeypatch.setattr(cable_watch, "find_cable", lambda given, last: (cable, False))
    monkeypatch.setattr(CableWatch, "_is_turned",
                        staticmethod(lambda problems, cable, removed: False))
    for is_rigid in (True, False):
        watch, log = CableWatch(9.81), FindingLog()
        given = window(0, 500)
        given.without = lambda wrench: "without"
        out = watch.search(problems, given, SimpleNamespace(), NOTHING, is_rigid)  # type: ignore[arg-type]
        watch.report(log)
        assert (out is None) != is_rigid and bool(log.all()) == is_rigid
        assert watch.phi_covariance().any()


def test_a_force_that_was_likely_stays_so_in_a_window_that_began_anew(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it hides, the mass is off by it at fifteen standard deviations."""
    evidence, unexplained = 30.0, 0.5
    problems: Any = SimpleNamespace(
        unexplained_force=lambda window, problem: unexplained,
        cable_input=lambda window: SimpleNamespace(phi=np.r_[2.0, np.zeros(9)]))
    monkeypatch.setattr(force_watch, "find_room_force", lambda given: RoomForce(
        6.0, 0.5, np.r_[-0.6, np.zeros(9)], evidence))
    watch = ForceWatch(9.81)

    def sd_of_mass(last: int, duration: float) -> float:
        given: Any = SimpleNamespace(last=last, duration=duration, factors={}, cross_channel=None)
        watch.search(problems, given, SimpleNamespace())  # type: ignore[arg-type]
        return float(np.sqrt(watch.phi_covariance()[0, 0]))

    assert sd_of_mass(1000, 10.0) == pytest.approx(0.6, rel=0.01)
    unexplained = 0.0  # it does not show for a while
    assert sd_of_mass(1300, 13.0) == pytest.approx(0.6, rel=0.01)
    evidence = 0.0
    assert sd_of_mass(1600, 1.0) == pytest.approx(0.6, rel=0.01)
    assert sd_of_mass(2200, 7.0) < 0.1  # there is none any more


def test_a_cable_that_was_certain_stays_possible_for_half_a_minute(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """What it pulls with still is in the rows, though a fit of fewer rows shows it no longer."""
    cable = likely(None, None)[0]._replace(evidence=2.0 * CERTAIN)
    problems: Any = SimpleNamespace(unexplained_force=lambda window, problem: 0.0,
                                    cable_input=lambda window: object())
    monkeypatch.setattr(CableWatch, "_is_turned",
                        staticmethod(lambda problems, cable, removed: False))
    watch, problem = CableWatch(9.81), SimpleNamespace()
    monkeypatch.setattr(cable_watch, "find_cable", lambda given, last: (cable, False))
    watch._fit(problems, window(0, 500), NOTHING)
    certain = watch.phi_covariance()
    monkeypatch.setattr(cable_watch, "find_cable", lambda given, last: (None, False))
    watch._fit(problems, window(400, 900), NOTHING)
    for last, expected in ((900, True), (3400, True), (3600, False)):
        watch.search(problems, window(last - 400, last), problem, NOTHING)  # type: ignore[arg-type]
        assert watch.phi_covariance().any() == expected
        if expected:
            assert watch.phi_covariance()[4, 4] == pytest.approx(certain[4, 4], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [61012, 61015, 61052, 62016, 62034])
def test_the_mass_of_a_load_under_a_cable_and_hysteresis_is_within_its_interval(
        seed: int) -> None:
    """Either hides the other, and takes up to half of the weight of a light load: the interval
    says so."""
    recorded = simulate("mix-cell", seed)
    outcome = identifier_of(recorded, {}).solve()
    assert isinstance(outcome, Estimate)
    off = abs(outcome.report[0] - recorded.truth[0])
    assert off < 2.5 * outcome.sigma[0] and off > 0.05 * recorded.truth[0]


def estimate_with_pull(force: Callable[[Array, Array], Array]) -> tuple[Estimate, set[str], Array]:
    """Estimate, findings and truth (4,) of 12 s of a simulated arm with a payload that is pulled.

    Args:
        force: [N] in the room on the payload, of where it is pulled (n, 3) [m] and the time (n,).
    """
    cobot = SimulatedCobot()
    recorded = cobot.run(12.0)
    turn, fastened = recorded.truth.rotation, np.array([0.0, 0.0, 0.1])
    pulled = np.einsum("nji,nj->ni", turn,
                       force(recorded.truth.position + turn @ fastened, recorded.t))
    # The reading holds the weight with the sign that the pull gets.
    down = turn[0].T @ [0.0, 0.0, -1.0]
    sign = np.sign(down @ recorded.wrench[0, :3])
    wrench = recorded.wrench + sign * np.hstack([pulled, np.cross(fastened, pulled)])
    *_, (outcome, said) = estimates(cobot, replace(recorded, wrench=wrench))
    assert isinstance(outcome, Estimate)
    return outcome, said, np.r_[cobot.payload.mass, cobot.payload.com]


def estimates(cobot: SimulatedCobot, recorded: Recording) -> Iterator[tuple[Outcome, set[str]]]:
    """Outcome and names of the findings after each half second of a recording."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": cobot.sensor_frame}))
    made.set_robot_description(cobot.urdf)
    stamps = 10**18 + np.round(recorded.t * 1e9).astype(np.int64)
    for rows in np.array_split(np.arange(len(stamps)), round(2.0 * recorded.t[-1])):
        made.add_joint_states(stamps[rows], cobot.joint_names, recorded.q[rows])
        made.add_wrenches(stamps[rows], cobot.sensor_frame, recorded.wrench[rows])
        yield made.solve(), {f.name for f in made.findings()}


@pytest.mark.slow
@pytest.mark.parametrize("point", [(0.3, 1.0, 1.5), (0.0, 0.0, 2.0), (1.0, 0.5, 1.0)])
def test_a_cable_is_found_that_looks_like_a_tilt_before(point: tuple[float, ...]) -> None:
    """Until it is seen its pull is taken for a tilt, and that for an error of the set-up."""
    def spring(at: Array, t: Array) -> Array:
        line = np.array(point) - at
        length = np.linalg.norm(line, axis=1, keepdims=True)
        return np.asarray((2.0 + 5.0 * (length - length.min())) * line / length)

    found, said, truth = estimate_with_pull(spring)
    assert "cable" in said
    assert np.all(np.abs(found.report[:4] - truth) < 1.96 * found.sigma[:4])
    assert 1.96 * found.sigma[0] < 0.06 * truth[0]


@pytest.mark.slow
def test_a_sensor_that_is_turned_is_taken_for_no_cable() -> None:
    cobot = SimulatedCobot(CobotSettings(sensor_rotation_error=(0.0, 0.0, 90.0), seed=1))
    assert not any("cable" in said for _, said in estimates(cobot, cobot.run(15.0)))


@pytest.mark.slow
@pytest.mark.parametrize("force", [(2.0, 0.0, 0.0), (1.2, 1.2, -1.0)])
def test_a_constant_pull_is_no_known_tilt(force: tuple[float, ...]) -> None:
    """It cannot be told from one; what may be wrong then is in the intervals, and in words."""
    found, said, truth = estimate_with_pull(lambda at, t: np.tile(force, (len(t), 1)))
    assert "misaligned.gravity" in said
    assert np.all(np.abs(found.report[:4] - truth) < 1.96 * found.sigma[:4])


@pytest.mark.slow
def test_a_constant_force_along_gravity_is_in_the_interval_of_the_mass() -> None:
    """It looks like weight, and not like inertia."""
    found, said, truth = estimate_with_pull(lambda at, t: np.tile([0.0, 0.0, -6.0], (len(t), 1)))
    assert "constant_force" in said
    assert abs(found.report[0] - truth[0]) < 1.96 * found.sigma[0]
