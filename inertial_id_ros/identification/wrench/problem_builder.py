# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the content of the window to the problem of the estimators: linearised, its noise known."""

from __future__ import annotations

import math
from copy import copy
from operator import is_not
from typing import NamedTuple

import numpy as np

from ...detection.residual_shape import SliceMeans, is_clear
from ...inertia import PARAMETERS, Array
from ...regression.alignment import CLOCK_OFFSET, SENSOR_POSITION
from ...regression.problem import COLUMNS, Marginal, Problem, state_prior, vague_information, whiten
from ...regression.regressor_window import DYNAMIC, STATIC, WindowContent
from ...regression.row_layout import (
    BIASES,
    NOTHING_REMOVED,
    EstimatedStates,
    correct_wrench,
    join,
)
from ...regression.tool import Tool, add_tool_states
from ...regression.uncertainty.cable_fit import FitInput
from ...regression.uncertainty.encoder_noise import (
    NO_MOTION_NOISE,
    noise_information,
    remove_noise_information,
)
from ...regression.uncertainty.errors_in_variables import linearise, residual_covariance
from ...regression.uncertainty.noise import correct_noise, datasheet_noise, degrees_of_freedom
from ...regression.uncertainty.sensor_errors import (
    ErrorStrengths,
    SensorErrors,
    WeighedRows,
    unexpected_change,
)
from ...regression.uncertainty.shifted_origin import BEFORE_DATA, Origin, look_for_shift
from ...settings import Settings
from ...signals.bins import BIN_NS
from ...signals.low_pass import ZeroPhaseFilter
from ..state import Tare
from .sensor_bias import UNKNOWN_BIAS, SensorBias

_NO_ROWS = np.empty((0, COLUMNS))
_IN_TIME = 1e-4  # s, of clocks that agree
_ROUNDS, _FIRST_ROUNDS = 3, 12  # of them, those of the first window
# Of a slice, in which no shape is sought: N, N m, or a share of the range of the load.
_SMALL_ERROR, _SMALL_SHARE = np.array([0.05, 0.0025]), 0.02
# Of phi in standard deviations, in the first window, of the noise by itself.
_STEADY, _FIRST_STEADY, _STEADY_NOISE = 0.1, 0.01, 0.01
# Standard deviations by which phi moves in a round: near the answer, and more than errors of the
# calibration may move it.
_NEAR, _FAR = 1.0, 10.0
# Share of the window, and bins, that must be new before the noise is estimated anew.
_RENEWED, _FEW = 0.05, round(0.2e9 / BIN_NS)


class ProblemBuilder:
    """Makes the problem of a window, with the settings, the tare and the tool of the moment.

    Args:
        low_pass: the filter that made the rows.
        bias: what is known of the sensor's biases; tool: stored and known, or None.

    Attributes:
        bias, tool: the same.
        states: the nuisance states that the settings switch on.
    """

    def __init__(self, settings: Settings, low_pass: ZeroPhaseFilter,
                 bias: SensorBias = UNKNOWN_BIAS, tool: Tool | None = None) -> None:
        self.bias, self.tool = bias, tool
        self._low_pass = low_pass
        self._settings = settings
        self.states = EstimatedStates(settings)
        self._errors = SensorErrors(settings, self._low_pass)
        self._prior: _Prior | None = None
        self._start: _Start | None = None

    def without_solution(self) -> ProblemBuilder:
        """The same without the solution of the last window, near which the next one would be
        linearised."""
        other = copy(self)
        other._start = None
        return other

    def total_payload(self, phi: Array) -> Array:
        """phi (10,) of all that hangs on the sensor: the object, and the stored tool if any."""
        return phi if self.tool is None else phi + self.tool.phi

    def nuisance_values(self, states: Array) -> Array:
        """Values of the nuisance states among all states (6 + q,): those after the biases."""
        return states[BIASES:BIASES + len(self.states)]

    def build(self, window: WindowContent,
              acceleration_covariance: Array = NO_MOTION_NOISE,
              removed: Array = NOTHING_REMOVED) -> Problem:
        """The problem, linearised and with its noise corrected, in a few cheap rounds.

        They start where those of the window before ended, and stop when nothing moves.

        Args:
            acceleration_covariance: (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in
                a row.
            removed: values (n,) of the nuisance states that were removed from the samples.
        """
        rounds, steady = _ROUNDS, _STEADY
        if self._start is None:
            rounds, steady = _FIRST_ROUNDS, _FIRST_STEADY
            self._start = _Start(np.zeros(PARAMETERS), np.zeros(len(self.states)),
                                 self._errors.before_data(), BEFORE_DATA, -1, False, -1)
        now_ns = (window.last + 1) * BIN_NS
        # The strengths hardly change with a few more samples, and cost a third of an estimate.
        renewed = (window.last - self._start.end
                   > max(_RENEWED * (window.last + 1 - window.first), _FEW))

        def linearise_at(start: _Start) -> _Linearised:
            """The weighed rows, linearised at the start of a round; the marginal is without the
            information that noise of the accelerations seems to bring."""
            matrix = self._matrix(start.phi)
            strengths = (start.strengths if start.near
                         else start.strengths._replace(calibration=0.0))
            weighed = self._errors.weigh(window, matrix, self.total_payload(start.phi), strengths)
            linearised = _Linearised(weighed, matrix,
                                     self._state_prior(removed, start, now_ns))
            if acceleration_covariance.any():
                # It averages out within slices, and counts as little as all else does there.
                noise = start.strengths.noise * np.sqrt(weighed.products.within)
                linearised.marginal = remove_noise_information(
                    linearised.marginal, noise_information(
                        acceleration_covariance, noise, window.samples,
                        weighed.eliminated))
            return linearised

        doubted = 2 * window.last + 1 - window.first  # when this window will have passed
        settled = False  # near the answer of this window, not only that of the one before
        moved = math.inf
        for number in range(_FIRST_ROUNDS):
            start = self._start
            if number >= rounds and start.near and moved < _NEAR:
                break
            linearised = linearise_at(start)
            phi, _ = linearised.marginal.unconstrained_fit
            states = linearised.marginal.unconstrained_states
            strengths, origin, end = start.strengths, start.origin, start.end
            moved = float(np.linalg.norm(linearised.marginal.matrix @ (phi - start.phi)))
            if start.near and moved > _FAR:
                self._start = start._replace(near=False,
                                             until=doubted if settled else start.until)
                continue
            near = start.near or (moved < _NEAR and window.last >= start.until)
            settled = settled or near > start.near
            if renewed:
                covariance = linearised.covariance
                end, strengths = window.last, self._errors.update(
                    linearised.weighed, window, covariance,
                    np.concatenate([phi, states, [-1.0]]), linearised.prior.products)
                if SENSOR_POSITION in self.states.members:
                    origin = self._look_for_shift(covariance, states, linearised.prior)
            self._start = _Start(phi, self.nuisance_values(states), strengths, origin, end, near,
                                 start.until)
            changed = (np.abs(strengths.noise / start.strengths.noise - 1.0).max() if renewed
                       else 0.0)
            if moved < steady and changed < _STEADY_NOISE and near == start.near:
                return self._problem(window, start, linearised)
        if self._start.near and moved >= _NEAR:
            self._start = self._start._replace(near=False, until=doubted)
            return self.build(window, acceleration_covariance, removed)
        return self._problem(window, self._start, linearise_at(self._start))

    def slice_means(self, window: WindowContent, problem: Problem, phi: Array, states: Array,
                    removed: Array) -> SliceMeans | None:
        """Means over the slices of a window, linearised at phi (10,), with a problem's prior; None
        where the residual is clear.

        Args:
            states: (6 + q,) that go with phi.
            removed: values (n,) of the nuisance states that were removed from the samples.
        """
        residual, load, sd = self._residual(window, phi, states)
        of_parameters = float(phi @ vague_information(1.0) @ phi)
        if is_clear(residual, sd, problem.prior_cost(states) + of_parameters):
            return None
        prior = _products(problem.state_prior())
        means, in_time = window.slices.sums / window.slices.samples[:, None, None], None
        if CLOCK_OFFSET in self.states.members:
            exact = np.zeros((1, len(prior)))
            exact[0, PARAMETERS + BIASES + self.states.place(CLOCK_OFFSET).start] = 1.0
            exact[:, -1] = -removed[CLOCK_OFFSET.values]
            in_time = prior + exact.T @ exact / _IN_TIME**2
        return SliceMeans(means @ self._matrix(phi), sd, prior, in_time, phi, load)

    def unexplained_force(self, window: WindowContent, problem: Problem) -> float:
        """Root mean square [N] of the force that the unconstrained fit leaves in the slices; 0
        where that is so little that nothing is sought."""
        marginal = problem.marginal("noise")
        phi, _ = marginal.unconstrained_fit
        residual, _, sd = self._residual(window, phi, marginal.states(phi))
        if is_clear(residual, sd, 0.0):
            return 0.0
        return float(np.sqrt(np.square(residual[:, :3]).sum(axis=1).mean()))

    def calibration_variance(self, window: WindowContent, phi: Array) -> Array:
        """Variance (6,) that errors of the calibration leave of the low-passed wrench in the last
        window with an object phi (10,) [N^2, (N m)^2]."""
        assert self._prior is not None
        return self._errors.calibration_variance(window, self._matrix(phi), self._prior.information,
                                                 self.total_payload(phi))

    def cable_input(self, window: WindowContent) -> FitInput | None:
        """What a cable is fitted to, linearised at the last solution; None before the first."""
        start, prior = self._start, self._prior
        if start is None or prior is None:
            return None
        total = self.total_payload(start.phi)
        return self._errors.cable_input(window, self._settings.gravity.acceleration,
                                        self._matrix(start.phi), prior.products, total,
                                        start.strengths.levels)

    def _residual(self, window: WindowContent, phi: Array,
                  states: Array) -> tuple[Array, Array, Array]:
        """Means over the slices of the residual and the load (s, 6), and the errors (6,) of one
        mean, in which no shape is sought."""
        samples, matrix = window.slices.samples, self._matrix(phi)
        ordered = np.sort(samples)
        median = 0.5 * (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2])
        both = np.zeros((matrix.shape[1], 2))  # residual and load
        both[:, 0], both[:PARAMETERS, 1] = (np.concatenate([phi, states, [-1.0]]),
                                            self.total_payload(phi))
        sums = window.slices.sums.reshape(-1, len(matrix)) @ (matrix @ both)
        residual, load = (sums.reshape(len(samples), -1, 2) / samples[:, None, None]
                          ).transpose(2, 0, 1)
        ranges = (load.max(axis=0) - load.min(axis=0)).reshape(2, 3).max(axis=1)
        sd = np.hypot(datasheet_noise(self._settings.wrench) / math.sqrt(median),
                      np.repeat(np.minimum(_SMALL_ERROR, _SMALL_SHARE * ranges), 3))
        return residual, load, sd

    def add_regressor_noise(self, problem: Problem, window: WindowContent, phi: Array) -> Problem:
        """The problem with the noise of measured accelerations in its regressor, at phi (10,)."""
        assert window.cross_channel is not None
        states = problem.marginal("noise").states(phi)
        matrix = self._matrix(phi)
        covariance = residual_covariance(
            self.total_payload(phi), datasheet_noise(self._settings.wrench),
            window.cross_channel.acceleration_noise)
        if self._settings.estimator.estimate_noise:
            expected = np.sqrt(covariance.diagonal())
            used = degrees_of_freedom(whiten(problem.with_states, problem.noise)[:, :-1],
                                      _products(problem.state_prior())[:-1, :-1])
            solution = matrix @ np.concatenate([phi, states, [-1.0]])
            scale = correct_noise(expected, window, solution, self._low_pass, used) / expected
            covariance = covariance * np.outer(scale, scale)
        return linearise(problem, window.cross_channel, matrix, np.concatenate([phi, states]),
                         covariance)

    def _matrix(self, phi: Array) -> Array:
        """Matrix from stored columns to ``[A | B | nuisance | tool | y]`` at phi (10,)."""
        matrix = self.states.linearise(self.total_payload(phi))
        return matrix if self.tool is None else add_tool_states(matrix, self.tool)

    def _look_for_shift(self, covariance: Array, states: Array, prior: _Prior) -> Origin:
        """What a fit tells of a shifted origin.

        Args:
            covariance: (n, n) of parameters and states; states: (6 + q,).
        """
        place = self.states.place(SENSOR_POSITION)
        values = self.nuisance_values(states)[place]
        first = PARAMETERS + BIASES + place.start
        return look_for_shift(covariance, values, slice(first, first + len(values)),
                              float(self.states.prior_sd[place][0]),
                              float(prior.state_sd[place][0]))

    @property
    def unseen_shift(self) -> Array:
        """Covariance (10, 10) of phi by what the last problem leaves out of a shifted origin."""
        return BEFORE_DATA.unseen if self._start is None else self._start.origin.unseen

    def _state_prior(self, removed: Array, start: _Start, now_ns: int) -> _Prior:
        """What the settings, the tare and the tool tell of the states before the data; computed
        anew where one of them is another.

        Args:
            removed: (n,) values of the nuisance states that were removed from the samples;
                start: what remained of them last, which corrects the tare.
            now_ns: last stamp of the data, which tells the age of the tare.
        """
        sources = self.bias.tare, self.bias.is_old, self.tool
        nuisance = start.nuisance
        others = self.states.widened_prior_sd(removed, nuisance)
        if SENSOR_POSITION in self.states.members:
            place = self.states.place(SENSOR_POSITION)
            others = others.copy()
            others[place] = start.origin.scale * self.states.prior_sd[place]
        if (self._prior is None or self.bias.tare is not None
                or any(map(is_not, self._prior.sources, sources))
                or (self._prior.state_sd[:len(others)] != others).any()):
            sd, mean = self.bias.prior(self._settings, now_ns)
            mean = correct_wrench(mean, join(removed, self.states.expand(nuisance)))
            if self.tool is not None:
                others = np.concatenate([others, np.ones(PARAMETERS)])
            rows = state_prior(sd, mean, others)
            self._prior = _Prior(sources, sd, mean, others, rows, _products(rows))
        return self._prior

    def _problem(self, window: WindowContent, start: _Start, linearised: _Linearised) -> Problem:
        """The compressed problem, linearised at the start of a round."""
        prior = linearised.prior
        dynamic, static = (
            self._fix_states((window.factors[model] @ linearised.matrix).reshape(
                -1, linearised.matrix.shape[1]), start.nuisance)
            if model in window.factors else _NO_ROWS for model in (DYNAMIC, STATIC))
        weighed = linearised.weighed
        return Problem(lambda: self._fix_states(weighed.rows, start.nuisance), dynamic, static,
                       start.strengths.noise, prior.bias_sd, prior.bias_mean, window.samples,
                       weighed.products.linear, prior.state_sd, linearised.marginal,
                       unexpected_change(weighed, window, prior.products,
                                         linearised.marginal.unconstrained_fit))

    def _fix_states(self, rows: Array, nuisance: Array) -> Array:
        """Rows (n, 17) ``[A | B | y]``: nuisance states at these values, the tool as stored."""
        known = PARAMETERS + BIASES
        out = np.empty((len(rows), COLUMNS))
        out[:, :-1] = rows[:, :known]
        out[:, -1] = rows[:, -1] - rows[:, known:known + len(nuisance)] @ nuisance
        return out


class _Start(NamedTuple):
    """Where a round begins.

    Attributes:
        phi: (10,) payload; nuisance: (q,) values of the nuisance states.
        strengths: of the sensor's errors; origin: what is known of its shift; end: bin number up to
            which data told them.
        near: whether the answer is near, so that errors of the calibration are told from what is
            only linearised badly; until: bin number before which they are not, since they had moved
            the answer further than they can.
    """

    phi: Array
    nuisance: Array
    strengths: ErrorStrengths
    origin: Origin
    end: int
    near: bool
    until: int


class _Prior(NamedTuple):
    """What is known of the states before the data.

    Attributes:
        bias_sd, bias_mean: (6,) of the biases; state_sd: (q,) of the states beside them.
        rows: (6 + q, 17 + q) whitened; products: (17 + q, 17 + q) of them, with vague parameters;
        information: (16 + q, 16 + q), the same of parameters and states.
        sources: tare, whether that is old, and tool.
    """

    sources: tuple[Tare | None, bool, Tool | None]
    bias_sd: Array
    bias_mean: Array
    state_sd: Array
    rows: Array
    products: Array

    @property
    def information(self) -> Array:
        """Information (16 + q, 16 + q) of parameters and states."""
        return self.products[:-1, :-1]


class _Linearised:
    """The rows of a window, linearised at one phi and weighed by one strength of the errors.

    Args:
        weighed: the rows; matrix: (48, 17 + q) to ``[A | B | q | y]``, with which they were made.
        prior: of the states.

    Attributes:
        marginal: in phi alone.
    """

    def __init__(self, weighed: WeighedRows, matrix: Array, prior: _Prior) -> None:
        self.weighed, self.matrix, self.prior = weighed, matrix, prior
        self.marginal: Marginal = weighed.marginal(prior.rows)

    @property
    def covariance(self) -> Array:
        """Covariance (16 + q, 16 + q) of parameters and states."""
        return self.weighed.covariance(self.prior.information)


def _products(prior: Array) -> Array:
    """Products (17 + q, 17 + q) of prior rows, and vague information of the parameters."""
    out = prior.T @ prior
    out[:PARAMETERS, :PARAMETERS] += vague_information(1.0)
    return out
