# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The two ways into the product: its own pipeline for recordings, and rows made of accelerations.

`from_recording` pushes joint states and wrenches through `Identifier`, exactly as the bag tool
does. `from_accelerations` is for motion that comes as accelerations (papers, workshop tools). Both
end in the compressed window, which `Answers` solves with every estimator.

This is the only file that reaches into the package's unnamed parts: the identifier refuses
inconsistent answers, which a reference row must still show, and it prepares the problem anew for
every estimator.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inertial_id_ros.errors import InertialIdError, NotEnoughData
from inertial_id_ros.estimators import Estimator, create
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.identification import accelerations
from inertial_id_ros.identification.verdict import judge
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.identification.wrench.knowledge import WristKnowledge
from inertial_id_ros.identification.wrench.solver import Solver
from inertial_id_ros.inertia import Array
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.regression.problem import Problem
from inertial_id_ros.regression.regressor_window import WindowContent, make_regressor_window
from inertial_id_ros.regression.row_layout import (
    NOTHING_REMOVED,
    NUISANCE_VALUES,
    EstimatedStates,
    join,
)
from inertial_id_ros.regression.uncertainty.encoder_noise import NO_MOTION_NOISE
from inertial_id_ros.settings import Settings, WrenchSettings
from inertial_id_ros.signals.low_pass import ZeroPhaseFilter

from .motions import FRAME, SensorMotion, arm_urdf, joint_names, mounting

START_NS = 1_000_000_000_000
_CHUNK = 0.5  # s of samples between two advances
BLEND = {"estimator.weighting": "dynamism"}  # the window holds what either weighting needs
# Settings that an estimator's row uses where a paper defines them, or it is the shape alone.
AS_PUBLISHED: dict[str, dict[str, Any]] = {
    "pmd": {"estimator.weighting": "dynamism"}}


@dataclass(frozen=True, eq=False)
class Data:
    """A compressed recording: window, the low-pass of its rows, the values (n,) of the nuisance
    states that were removed from its samples, the covariance (6, 6) of the accelerations that come
    from joint positions, and the settings of the sensor with its measured noise (None: as set)."""

    window: WindowContent
    low_pass: ZeroPhaseFilter
    removed: Array = field(default_factory=NOTHING_REMOVED.copy)
    acceleration_covariance: Array = field(default_factory=NO_MOTION_NOISE.copy)
    sensor: WrenchSettings | None = None


@dataclass(frozen=True)
class Answer:
    """An estimator's answer; `failure` is empty unless there is none.

    Attributes:
        phi: (10,); covariance: (10, 10) of phi; alignment: (6,) see `Estimate`; seconds: of the
        estimator alone.
    """

    phi: Array
    covariance: Array
    alignment: Array
    seconds: float
    failure: str = ""


def from_recording(t: Array, q: Array, wrench: Array, settings: Settings,
                   shape: Shape | None) -> Data:
    """A recording of joint positions q (n, 6) and readings (n, 6) at times t (n,) [s]."""
    return compressed(run_identifier(t, q, wrench, settings, shape))


def compressed(identifier: Identifier) -> Data:
    """What an identifier keeps of its samples (raises NotEnoughData)."""
    window = identifier._window_solver.window_content()
    if window is None:
        raise NotEnoughData("the recording is shorter than the windows of the filters")
    low_pass = identifier._known.payload.segments.filter
    return Data(window, low_pass, identifier._known.setup.correction.errors.values,
                identifier._known.window.motion.acceleration_covariance(low_pass.kernel),
                identifier._known.solver._settings.wrench)


class _KnowledgeForAll(WristKnowledge):
    def begin_window(self) -> None:
        super().begin_window()
        self.window.rows = make_regressor_window(self.settings.replace(BLEND))


class IdentifierForAll(Identifier):
    """An identifier whose window every estimator can use."""

    _knowledge = _KnowledgeForAll

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__(settings, shape)
        self._known.begin_window()


def run_identifier(t: Array, q: Array, wrench: Array, settings: Settings,
                   shape: Shape | None = None) -> Identifier:
    """The product's identifier after a whole recording.

    Where there are nuisance states, it solves on the way as on the timer of the node: that takes
    large errors out of the samples and rebuilds the window, which every estimator then gets.
    """
    identifier = IdentifierForAll(settings.replace({"wrench.sensor_frame": FRAME}), shape)
    identifier.set_robot_description(arm_urdf())
    identifier.add_static_transform(*mounting())
    stamps = (START_NS + np.round(np.asarray(t) * 1e9)).astype(np.int64)
    names, chunk = tuple(joint_names()), max(int(_CHUNK / (t[1] - t[0])), 1)
    has_states = len(EstimatedStates(settings)) > 0
    for begin in range(0, len(stamps), chunk):
        part = slice(begin, begin + chunk)
        identifier.add_arrays([JointStates(stamps[part], names, q[part]),
                               Wrenches(stamps[part], FRAME, wrench[part])])
        if has_states:
            identifier.solve()
    identifier.finish()
    if has_states:
        identifier.solve()
    return identifier


def from_accelerations(motion: SensorMotion, wrench: Array, settings: Settings,
                       period: float, derive: bool = False) -> Data:
    """Measured motion and wrench (n, 6) of the sensor on the payload, samples `period` [s] apart.

    Args:
        derive: take the angular acceleration from the angular velocity.
    """
    sign = settings.wrench.sign
    recording = accelerations.Recording(
        period * np.arange(len(wrench)), motion.axes, motion.acceleration, motion.omega,
        sign * wrench, None if derive else motion.alpha)
    return Data(*accelerations.compress_recording(recording, settings.replace(BLEND)))


class Answers:
    """Solves a window with any estimator; keeps estimators, which remember their shape."""

    def __init__(self) -> None:
        self._estimators: dict[tuple[str, int], tuple[Settings, Shape, Estimator]] = {}

    def _estimator(self, name: str, settings: Settings, shape: Shape) -> Estimator:
        key = (name, id(shape))
        kept = self._estimators.get(key)
        if kept is None or kept[0] != settings or kept[1] is not shape:
            if len(self._estimators) > 400:
                self._estimators.clear()
            self._estimators[key] = kept = (settings, shape, create(settings))
        return kept[2]

    def solve(self, data: Data, shape: Shape, settings: Settings,
              names: list[str]) -> dict[str, Answer]:
        """The answer of each estimator; the problem is prepared once for all."""
        out: dict[str, Answer] = {}
        problems: dict[Settings, tuple[Solver, Problem]] = {}
        for name in names:
            chosen = estimator_settings(settings, name)
            base = chosen.replace({"estimator.method": "wls", "estimator.weighting": "noise"})
            if data.sensor is not None:
                base = replace(base, wrench=data.sensor)
            if base not in problems:
                solver = Solver(base, shape, data.low_pass)
                problems[base] = solver, solver.problems.build(
                    data.window, data.acceleration_covariance, data.removed)
            out[name] = self._answer(self._estimator(name, chosen, shape), *problems[base], data)
        return out

    def _answer(self, estimator: Estimator, solver: Solver, problem: Problem, data: Data) -> Answer:
        nothing = np.full(10, np.nan), np.full((10, 10), np.nan), np.full(NUISANCE_VALUES, np.nan)
        started = time.perf_counter()
        try:
            problem, solution = solver.answer(estimator, problem, data.window, solver.shape)
            elapsed = time.perf_counter() - started
            marginal = problem.marginal("noise")
            covariance = judge(solution, marginal).phi_covariance
            alignment, _ = solver.nuisance_values(marginal, marginal.states(solution.phi),
                                                  covariance)
            alignment = join(data.removed, alignment)
        except (InertialIdError, np.linalg.LinAlgError) as error:
            return Answer(*nothing, time.perf_counter() - started, str(error) or repr(error))
        return Answer(solution.phi, covariance, alignment, elapsed)


def estimator_settings(settings: Settings, name: str) -> Settings:
    """Settings of an estimator's row."""
    changes: Mapping[str, Any] = {"estimator.method": name, **AS_PUBLISHED.get(name, {})}
    return settings.replace(changes)
