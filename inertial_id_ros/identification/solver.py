"""From the buffer's content to an estimate: noise, estimator, covariance, verdict."""

from __future__ import annotations

import time
from operator import is_not
from typing import NamedTuple

import numpy as np

from ..detection.consistency_checks import (
    check_model,
    check_residual,
    check_settings,
    datasheet_noise,
    residual_rms,
    usable_shape,
)
from ..errors import InvalidData, InvalidShape, NotEnoughData
from ..estimate import UNOBSERVED, Estimate
from ..estimators import Estimator, Solution, create
from ..findings import FindingLog
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array, is_consistent, min_eigenvalue
from ..regression.alignment import prior_sd, report
from ..regression.encoder_noise import freed, in_residual, spurious
from ..regression.errors_in_variables import linearised, residual_covariance
from ..regression.noise import degrees_of_freedom, refine
from ..regression.problem import COLUMNS, Marginal, Problem, eliminate, state_prior, whitened
from ..regression.regressor_window import DYNAMIC, FULL, STATIC, Window
from ..regression.row_layout import ALIGNMENTS, BIASES, STORED, linearisation
from ..regression.tool import Tool, tool_apart
from ..regression.unconstrained_fit import vague_information
from ..settings import Settings
from ..signals.bins import BIN_NS
from ..signals.low_pass import ZeroPhaseFilter
from .state import Tare, tare_conditions
from .verdict import judge, unknown_acceleration

_STILL = np.zeros((6, 6))
_NO_ROWS = np.empty((0, COLUMNS))
_ROUNDS = 3
_STEADY, _STEADY_NOISE = 0.1, 0.01  # of phi in standard deviations, of the noise by itself
_NOISY_ROUNDS = 5
_SETTLED = 0.03  # standard deviations by which the answer may still move
_TARE_SAMPLES = 20
_REST = 5.0  # a reading that varies by more than this many standard deviations is not at rest
_OLD_TARE = 0.2  # uncertainty of an earlier run's tare, as part of that before any data


class Solver:
    """Everything between the compressed window and the published estimate.

    Args:
        settings: as checked; shape: of the object, or None.
        filtering: the filter that made the rows; sign: of reading against ``A phi``.
    """

    def __init__(self, settings: Settings, shape: Shape | None, filtering: ZeroPhaseFilter,
                 sign: float) -> None:
        self.shape = shape
        self.tool: Tool | None = None
        self._filter = filtering
        self._sign = sign
        self.tared: Tare | None = None
        self._tare_is_old = False
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Use these settings from now on."""
        self._estimator = create(settings)
        self._settings = settings
        self._alignment_sd = prior_sd(settings.alignment)
        self._states = np.flatnonzero(self._alignment_sd)
        self._start: tuple[Array, Array, Array] | None = None  # phi, alignment, noise
        self._prior: _Prior | None = None

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings could not be used with the present shape.

        Raises:
            InvalidSetting: the estimator cannot be made.
            InvalidShape: it needs a shape, unlike the present one, and none is there.
        """
        estimator = create(settings)
        waits_already = self._estimator.needs_shape
        if estimator.needs_shape and self.shape is None and not waits_already:
            raise InvalidShape(
                f"the estimator '{estimator.name}' of these settings needs the shape of the "
                "object, and none is given: call set_shape first, or set shape.type at start")

    def reset(self) -> None:
        """Forget what was learnt from earlier data, except the tare."""
        self._estimator = create(self._settings)
        self._start = None

    def restore_tare(self, tared: Tare | None) -> None:
        """Use the tare of an earlier run, about which less is sure; None: none."""
        self.tared, self._tare_is_old = tared, True

    def forget_tare(self) -> None:
        """The zero of the sensor is another than when it was tared."""
        self.tared = None

    def drop_old_tare(self, why: str, log: FindingLog) -> None:
        """Do not use the tare of an earlier run, if there is one, and say why."""
        if self.tared is not None and self._tare_is_old:
            self.forget_tare()
            log.set("tare_not_used", "warning",
                    f"the bias of an earlier run's tare is not used: {why}; tare again")

    def tare(self, readings: Array, stamp_ns: int, frame_id: str) -> str:
        """Use the mean of readings (n, 6), the last of that time, as the bias.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        if len(readings) < _TARE_SAMPLES:
            raise NotEnoughData(f"tare needs {_TARE_SAMPLES} wrench samples within a second; "
                                f"{len(readings)} were received")
        spread = readings.std(axis=0) / datasheet_noise(self._settings.wrench)
        if spread.max() > _REST:
            raise NotEnoughData(
                f"tare needs a sensor at rest; its readings vary by {spread.max():.0f} times the "
                "noise in the settings")
        self.tared = Tare(readings.mean(axis=0), stamp_ns, frame_id,
                          tare_conditions(self._settings))
        self._tare_is_old = False
        f, t = self.tared.reading[:3], self.tared.reading[3:]
        return ("bias set to force [" + ", ".join(f"{v:.3f}" for v in f) + "] N, torque ["
                + ", ".join(f"{v:.4f}" for v in t) + f"] N m from {len(readings)} samples")

    def _bias_prior(self) -> tuple[Array, Array]:
        """Standard deviation and mean (6,) of the biases before the window's data."""
        wrench, estimator = self._settings.wrench, self._settings.estimator
        mean = np.zeros(BIASES) if self.tared is None else self._sign * self.tared.reading
        unknown = np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3)
        if not estimator.estimate_bias:
            return np.zeros(BIASES), mean
        if self.tared is None:
            return unknown, mean
        if self._tare_is_old:
            return _OLD_TARE * unknown, mean
        return datasheet_noise(wrench), mean  # a tared sensor drifts by about its noise

    def _before(self) -> _Prior:
        """What is known of the states before the data; made anew with another tare or tool."""
        given = self.tared, self._tare_is_old, self.tool
        if self._prior is None or any(map(is_not, self._prior.given, given)):
            sd, mean = self._bias_prior()
            others = self._alignment_sd[self._states]
            if self.tool is not None:
                others = np.concatenate([others, np.ones(PARAMETERS)])
            rows = state_prior(sd, mean, others)
            self._prior = _Prior(given, sd, mean, others, rows, _information(rows))
        return self._prior

    def _problem(self, window: Window, alignment: Array, noise: Array,
                 made: _Linearised) -> Problem:
        """The compressed problem, with these alignment values (6,) and noise (6,)."""
        dynamic, static = (
            self._fixed((window.factors[m] @ made.matrix).reshape(-1, made.matrix.shape[1]),
                        alignment)
            if m in window.factors else _NO_ROWS for m in (DYNAMIC, STATIC))
        prior = self._before()
        return Problem(self._fixed(made.aligned, alignment), dynamic, static, noise,
                       prior.bias_sd, prior.bias_mean, window.samples, made.aligned,
                       prior.state_sd, made.marginal)

    def _fixed(self, rows: Array, alignment: Array) -> Array:
        """Rows (n, 17) ``[A | B | y]``: alignment states at these values (6,), the tool as
        stored."""
        known = PARAMETERS + BIASES
        out = np.empty((len(rows), COLUMNS))
        out[:, :-1] = rows[:, :known]
        states = rows[:, known:known + len(self._states)]
        out[:, -1] = rows[:, -1] - states @ alignment[self._states]
        return out

    def carried(self, phi: Array) -> Array:
        """phi (10,) of all that hangs on the sensor, the tool included."""
        return phi if self.tool is None else phi + self.tool.phi

    def _matrix(self, phi: Array) -> Array:
        """Matrix from stored columns to ``[A | B | alignment | tool | y]`` at phi (10,)."""
        matrix = linearisation(self.carried(phi), self._states)
        return matrix if self.tool is None else tool_apart(matrix, self.tool)

    def solve(self, window: Window, frame_id: str, log: FindingLog,
              turning: float = 0.0, early: float = 0.0, shaking: Array = _STILL) -> Estimate:
        """The estimate of a window.

        Args:
            turning: see `verdict.unknown_acceleration`; 0 where the acceleration is known.
            early: offset [s] that was already taken out of the wrench stamps.
            shaking: covariance (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in a
                row; where the accelerations are measured, `window` tells it.

        Raises:
            NotEnoughData, InvalidShape: the estimator cannot answer.
            InvalidData: the answer is not physical (the text says what that points to).
        """
        try:
            return self._solve(window, frame_id, log, turning, early, shaking)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            self.reset()  # nothing of these numbers is carried into the next window
            raise NotEnoughData("the numbers of this window break the computation "
                                f"({' '.join(str(error).split()) or type(error).__name__})"
                                ) from error

    def _solve(self, window: Window, frame_id: str, log: FindingLog, turning: float,
               early: float, shaking: Array) -> Estimate:
        started = time.perf_counter()
        self._check_frames(frame_id, log)
        problem = self._prepare(window, shaking)
        check_model(problem, self._settings, self.tool, log)
        shape = usable_shape(self.shape, self._settings.shape.max_reach,
                             problem.marginal("noise"), self._estimator, log)
        problem, solution = self._answer(self._estimator, problem, window, shape)
        elapsed = time.perf_counter() - started
        if not is_consistent(solution.phi):
            raise InvalidData(
                f"'{self._estimator.name}' gives a body that cannot exist (smallest eigenvalue of "
                f"the pseudo-inertia {min_eigenvalue(solution.phi):.3g}); choose an estimator that "
                "guarantees consistency, or move more")
        marginal = problem.marginal("noise")
        states = marginal.states(solution.phi)
        rms = residual_rms(problem, solution.phi, states)
        check_residual(rms, self._residual_noise(solution.phi, shaking), log)
        check_settings(solution.phi, self._settings, log)
        verdict = judge(solution, marginal, unknown_acceleration(
            solution.phi, turning, self._settings.gravity.acceleration))
        if verdict.verdict[0] == UNOBSERVED:
            sd = float(np.sqrt(verdict.phi_covariance[0, 0]))
            if self.tool is not None:
                raise NotEnoughData(f"no object can be told apart from the tool: "
                                    f"{solution.phi[0]:.3f} ± {2.0 * sd:.3f} kg beside it")
            raise NotEnoughData(
                f"the mass is not identified yet ({solution.phi[0]:.2f} ± {2.0 * sd:.2f} kg); tilt "
                "the sensor by 20 to 30 degrees about two axes, or tare it without payload")
        log.set("verdict", "info", verdict.sentence)
        alignment, alignment_sigma = self._alignment(marginal, states, verdict.phi_covariance)
        alignment[5] += early
        report(alignment, alignment_sigma, log)
        return Estimate(
            stamp_ns=(window.last + 1) * BIN_NS, frame_id=frame_id, phi=solution.phi,
            phi_covariance=verdict.phi_covariance,
            bias=self._sign * _unrotated(solution.bias, alignment[:3]),
            method=self._estimator.name, weighting=self._settings.estimator.weighting,
            data_share=verdict.data_share, verdict=verdict.verdict,
            alignment=alignment, alignment_sigma=alignment_sigma, residual_rms=rms,
            samples=window.samples, window=window.duration,
            condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi), solve_time=elapsed,
            tool_apart=self.tool is not None)

    def _residual_noise(self, phi: Array, shaking: Array) -> Array:
        """Noise (6,) of sensor and motion in the residual of a payload phi (10,) [N, N m]."""
        moved = in_residual(self.carried(phi), shaking).diagonal()
        return np.sqrt(datasheet_noise(self._settings.wrench) ** 2 + moved)

    def _check_frames(self, frame_id: str, log: FindingLog) -> None:
        if self.tared is not None and self.tared.frame_id != frame_id:
            self.drop_old_tare(f"it is of frame '{self.tared.frame_id}', and the wrench of "
                               f"'{frame_id}'", log)
        if self.tool is not None and self.tool.frame_id != frame_id:
            raise InvalidData(f"the stored tool is given in frame '{self.tool.frame_id}' and the "
                              f"wrench in '{frame_id}'; clear the tool and store it again")

    def _prepare(self, window: Window, shaking: Array = _STILL) -> Problem:
        """The problem, linearised and with its noise corrected, in a few cheap rounds.

        They start where those of the window before ended, and stop when nothing moves.
        """
        start = datasheet_noise(self._settings.wrench)
        if self._start is None:
            self._start = np.zeros(PARAMETERS), np.zeros(ALIGNMENTS), start
        phi, alignment, noise = self._start
        rows = window.factors[FULL].reshape(-1, STORED)
        prior = self._before()
        for _ in range(_ROUNDS):
            made = _Linearised(rows, self._matrix(phi), noise, prior.rows)
            made.forget(shaking, noise, window.samples)
            before, at, used = phi, alignment, noise
            phi, _ = made.marginal.unconstrained_fit
            states = made.marginal.states(phi)
            alignment = alignment.copy()
            alignment[self._states] = states[BIASES:BIASES + len(self._states)]
            if self._settings.estimator.estimate_noise:
                noise = refine(start, window, made.solution(phi, states), self._filter,
                               degrees_of_freedom(made.whitened[:, :-1], prior.information))
            moved = float(np.linalg.norm(made.marginal.matrix @ (phi - before)))
            self._start = phi, alignment, noise
            if moved < _STEADY and np.abs(noise / used - 1.0).max() < _STEADY_NOISE:
                return self._problem(window, at, used, made)
        made = _Linearised(rows, self._matrix(phi), noise, prior.rows)
        made.forget(shaking, noise, window.samples)
        return self._problem(window, alignment, noise, made)

    def _answer(self, estimator: Estimator, problem: Problem, window: Window,
                shape: Shape | None) -> tuple[Problem, Solution]:
        """The estimator's answer, and the problem that it belongs to.

        Where the regressor is noisy that problem depends on the answer: a few rounds. An estimator
        that takes no notice of it keeps the problem it solves.
        """
        solution, last = estimator.solve(problem, shape), np.inf
        for _ in range(_NOISY_ROUNDS if window.joint is not None else 0):
            noisy = self._with_regressor_noise(problem, window, solution.phi)
            found = estimator.solve(noisy, shape)
            change = float(np.linalg.norm(
                noisy.marginal("noise").matrix @ (found.phi - solution.phi)))
            if change == 0.0 or change > last:  # more than before: it runs away
                break
            problem, solution, last = noisy, found, change
            if change < _SETTLED:
                break
        return problem, solution

    def _with_regressor_noise(self, problem: Problem, window: Window, phi: Array) -> Problem:
        """The problem with the noise of the accelerations in its regressor, at phi (10,)."""
        assert window.joint is not None
        states = problem.marginal("noise").states(phi)
        matrix = self._matrix(phi)
        covariance = residual_covariance(self.carried(phi), datasheet_noise(self._settings.wrench),
                                         window.joint.acceleration_noise)
        if self._settings.estimator.estimate_noise:
            expected = np.sqrt(covariance.diagonal())
            used = degrees_of_freedom(whitened(problem.aligned, problem.noise)[:, :-1],
                                      _information(problem.state_prior()))
            solution = matrix @ np.concatenate([phi, states, [-1.0]])
            scale = refine(expected, window, solution, self._filter, used) / expected
            covariance = covariance * np.outer(scale, scale)
        return linearised(problem, window.joint, matrix, np.concatenate([phi, states]), covariance)

    def _alignment(self, marginal: Marginal, states: Array,
                   covariance: Array) -> tuple[Array, Array]:
        """Alignment states (6,) and their standard deviations (6,), zero where not estimated."""
        values, sigma = np.zeros((2, ALIGNMENTS))
        if not len(self._states):
            return values, sigma
        of_alignment = slice(BIASES, BIASES + len(self._states))
        values[self._states] = states[of_alignment]
        spread = marginal.state_covariance(covariance).diagonal()[of_alignment]
        sigma[self._states] = np.sqrt(spread)
        return values, sigma


class _Prior(NamedTuple):
    """What is known of the states before the data.

    Attributes:
        given: what it was made from: tare, whether that is old, tool.
        bias_sd, bias_mean: (6,) of the biases; state_sd: (q,) of the states beside them.
        rows: (6 + q, 17 + q) whitened; information: (16 + q, 16 + q).
    """

    given: tuple[Tare | None, bool, Tool | None]
    bias_sd: Array
    bias_mean: Array
    state_sd: Array
    rows: Array
    information: Array


class _Linearised:
    """The rows of a window, linearised at one phi and whitened with one noise.

    Args:
        rows: (n, 38) stored; matrix: (38, 17 + q) to ``[A | B | q | y]``; noise: (6,).
        prior: (6 + q, 17 + q) whitened rows of the prior of the states.
    """

    def __init__(self, rows: Array, matrix: Array, noise: Array, prior: Array) -> None:
        self.matrix, self.aligned = matrix, rows @ matrix
        self.whitened = whitened(self.aligned, noise)
        self.marginal = eliminate(self.whitened, prior)

    def forget(self, shaking: Array, noise: Array, samples: int) -> None:
        """Take out the information that noise of the motion (6, 6) seems to bring."""
        if shaking.any():
            self.marginal = freed(self.marginal, spurious(shaking, noise, samples))

    def solution(self, phi: Array, states: Array) -> Array:
        """The vector (38,) that makes residuals of stored rows, at phi (10,) and states."""
        return self.matrix @ np.concatenate([phi, states, [-1.0]])


def _information(prior: Array) -> Array:
    """Information (16 + q, 16 + q) of parameters and states before the data, from prior rows."""
    out = prior[:, :-1].T @ prior[:, :-1]
    out[:PARAMETERS, :PARAMETERS] += vague_information(1.0)
    return out


def _unrotated(bias: Array, rotation: Array) -> Array:
    """Biases (6,) corrected for a rotation state (3,) whose columns hold the biased wrench."""
    x, y, z = rotation.tolist()
    # (1 + [r]x)^-1 = (1 - [r]x + r r') / (1 + r'r)
    back = np.array([[1.0 + x * x, x * y + z, x * z - y], [x * y - z, 1.0 + y * y, y * z + x],
                     [x * z + y, y * z - x, 1.0 + z * z]]) / (1.0 + x * x + y * y + z * z)
    return (bias.reshape(2, 3) @ back.T).ravel()
