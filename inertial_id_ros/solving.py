"""From the buffer's content to an estimate: noise, estimator, covariance, verdict."""

from __future__ import annotations

import time

import numpy as np

from .alignment import prior_sd, report
from .bins import BIN_NS
from .buffer import DYNAMIC, FULL, STATIC, Window
from .containment import usable_shape
from .errors import InvalidData, InvalidShape, NotEnoughData
from .estimate import UNOBSERVED, Estimate
from .estimators import Estimator, Marginal, Problem, Solution, create
from .estimators.base import COLUMNS
from .filtering import TwoSidedFilter
from .findings import FindingLog, named
from .free_fit import vague_information
from .inertia import Array, is_consistent, min_eigenvalue, skew
from .noise import degrees_of_freedom, refine
from .regressor_noise import linearised, residual_covariance
from .row_layout import ALIGNMENTS, BIASES, PARAMETERS, linearisation
from .settings import Settings, WrenchSettings
from .shape import Shape
from .state import Tare
from .tool import Tool, tool_apart
from .verdict import judge, unknown_acceleration

_ROUNDS = 3
_STEADY, _STEADY_NOISE = 0.1, 0.01  # of phi in standard deviations, of the noise by itself
_NOISY_ROUNDS = 5
_SETTLED = 0.03  # standard deviations by which the answer may still move
_TARE_SAMPLES = 20
_REST = 5.0  # a reading that varies by more than this many standard deviations is not at rest
_OLD_TARE = 0.2  # uncertainty of an earlier run's tare, as part of that before any data
_UNEXPLAINED = 0.2  # share of the force that may be left where the residual is that large
_MISFIT = 5.0  # residual over data-sheet noise from which a wrong frame is suspected


def sheet(settings: WrenchSettings) -> Array:
    """Data-sheet noise (6,) of one raw sample [N, N m]."""
    return np.repeat([settings.force_noise, settings.torque_noise], 3)


class Solver:
    """Everything between the compressed window and the published estimate.

    Args:
        settings: as checked; shape: of the object, or None.
        filtering: the filter that made the rows; sign: of reading against ``A phi``.
    """

    def __init__(self, settings: Settings, shape: Shape | None, filtering: TwoSidedFilter,
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

    def tare(self, readings: Array, stamp_ns: int, frame_id: str) -> str:
        """Use the mean of readings (n, 6), the last of that time, as the bias.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        if len(readings) < _TARE_SAMPLES:
            raise NotEnoughData(f"tare needs {_TARE_SAMPLES} wrench samples within a second; "
                                f"{len(readings)} were received")
        spread = readings.std(axis=0) / sheet(self._settings.wrench)
        if spread.max() > _REST:
            raise NotEnoughData(
                f"tare needs a sensor at rest; its readings vary by {spread.max():.0f} times the "
                "noise in the settings")
        self.tared, self._tare_is_old = Tare(readings.mean(axis=0), stamp_ns, frame_id), False
        f, t = self.tared.reading[:3], self.tared.reading[3:]
        return ("bias set to force [" + ", ".join(f"{v:.3f}" for v in f) + "] N, torque ["
                + ", ".join(f"{v:.4f}" for v in t) + f"] N m from {len(readings)} samples")

    def _bias_prior(self) -> tuple[Array, Array]:
        """Mean and standard deviation (6,) of the biases before the window's data."""
        wrench, estimator = self._settings.wrench, self._settings.estimator
        mean = np.zeros(BIASES) if self.tared is None else self._sign * self.tared.reading
        unknown = np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3)
        if not estimator.estimate_bias:
            return mean, np.zeros(BIASES)
        if self.tared is None:
            return mean, unknown
        if self._tare_is_old:
            return mean, _OLD_TARE * unknown
        return mean, sheet(wrench)  # a tared sensor drifts by about its noise

    def _problem(self, window: Window, noise: Array, at: Array, alignment: Array) -> Problem:
        """The compressed problem, linearised at phi (10,) and with these alignment values (6,)."""
        matrix = self._matrix(at)
        aligned = (window.factors[FULL] @ matrix).reshape(-1, matrix.shape[1])
        full = self._fixed(aligned, alignment)
        dynamic, static = (
            self._fixed((window.factors[m] @ matrix).reshape(-1, matrix.shape[1]), alignment)
            if m in window.factors else np.empty((0, COLUMNS)) for m in (DYNAMIC, STATIC))
        mean, sd = self._bias_prior()
        unit = np.ones(0 if self.tool is None else PARAMETERS)
        return Problem(full, dynamic, static, noise, sd, mean, window.samples, aligned,
                       np.r_[self._alignment_sd[self._states], unit])

    def _fixed(self, rows: Array, alignment: Array) -> Array:
        """Rows (n, 17) ``[A | B | y]``: alignment states at these values (6,), the tool as
        stored."""
        known = PARAMETERS + BIASES
        states = rows[:, known:known + len(self._states)]
        return np.column_stack([rows[:, :known], rows[:, -1] - states @ alignment[self._states]])

    def carried(self, phi: Array) -> Array:
        """phi (10,) of all that hangs on the sensor, the tool included."""
        return phi if self.tool is None else phi + self.tool.phi

    def _matrix(self, phi: Array) -> Array:
        """Matrix from stored columns to ``[A | B | alignment | tool | y]`` at phi (10,)."""
        matrix = linearisation(self.carried(phi), self._states)
        return matrix if self.tool is None else tool_apart(matrix, self.tool)

    def solve(self, window: Window, frame_id: str, log: FindingLog,
              turning: float = 0.0, early: float = 0.0) -> Estimate:
        """The estimate of a window.

        Args:
            turning: see `verdict.unknown_acceleration`; 0 where the acceleration is known.
            early: offset [s] that was already taken out of the wrench stamps.

        Raises:
            NotEnoughData, InvalidShape: the estimator cannot answer.
            InvalidData: the answer is not physical (the text says what that points to).
        """
        try:
            return self._solve(window, frame_id, log, turning, early)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            self.reset()  # nothing of these numbers is carried into the next window
            raise NotEnoughData("the numbers of this window break the computation "
                                f"({' '.join(str(error).split()) or type(error).__name__})"
                                ) from error

    def _solve(self, window: Window, frame_id: str, log: FindingLog, turning: float,
               early: float) -> Estimate:
        started = time.perf_counter()
        self._check_frames(frame_id)
        problem = self._prepare(window)
        log.clear("sign_wrong", "frame_wrong")
        self._check_model(problem, log)
        shape = usable_shape(self.shape, self._settings.shape.max_reach,
                             problem.marginal("noise"), self._estimator, log)
        problem, solution = self._answer(self._estimator, problem, window, shape)
        elapsed = time.perf_counter() - started
        if not is_consistent(solution.phi):
            raise InvalidData(
                f"'{self._estimator.name}' gives a body that cannot exist (smallest eigenvalue of "
                f"the pseudo-inertia {min_eigenvalue(solution.phi):.3g}); choose an estimator that "
                "guarantees consistency, or move more")
        rms = self._residual(problem, solution.phi, solution.bias)
        self._check_residual(rms, log)
        self._check_settings(solution.phi, log)
        marginal = problem.marginal("noise")
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
        alignment, alignment_sigma = self._alignment(marginal, solution.phi,
                                                     verdict.phi_covariance)
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

    def _check_frames(self, frame_id: str) -> None:
        if self.tared is not None and self.tared.frame_id != frame_id:
            self.forget_tare()  # an earlier run had another sensor
        if self.tool is not None and self.tool.frame_id != frame_id:
            raise InvalidData(f"the stored tool is given in frame '{self.tool.frame_id}' and the "
                              f"wrench in '{frame_id}'; clear the tool and store it again")

    def _prepare(self, window: Window) -> Problem:
        """The problem, linearised and with its noise corrected, in a few cheap rounds.

        They start where those of the window before ended, and stop when nothing moves.
        """
        if self._start is None:
            self._start = (np.zeros(PARAMETERS), np.zeros(ALIGNMENTS), sheet(self._settings.wrench))
        phi, alignment, noise = self._start
        for _ in range(_ROUNDS):
            problem = self._problem(window, noise, phi, alignment)
            marginal = problem.marginal("noise")
            before, noise_before, matrix = phi, noise, self._matrix(phi)
            phi, _ = marginal.free_fit
            states = marginal.states(phi)
            alignment = alignment.copy()
            alignment[self._states] = states[BIASES:][:len(self._states)]
            if self._settings.estimator.estimate_noise:
                used = degrees_of_freedom(problem.whitened(problem.aligned)[:, :-1],
                                          self._state_information(problem))
                noise = refine(sheet(self._settings.wrench), window,
                               matrix @ np.r_[phi, states, -1.0], self._filter, used)
            moved = float(np.linalg.norm(marginal.matrix @ (phi - before)))
            self._start = phi, alignment, noise
            if moved < _STEADY and np.abs(noise / noise_before - 1.0).max() < _STEADY_NOISE:
                return problem
        return self._problem(window, noise, phi, alignment)

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
        covariance = residual_covariance(self.carried(phi), sheet(self._settings.wrench),
                                         window.joint.acceleration_noise)
        if self._settings.estimator.estimate_noise:
            expected = np.sqrt(np.diag(covariance))
            used = degrees_of_freedom(problem.whitened(problem.aligned)[:, :-1],
                                      self._state_information(problem))
            scale = refine(expected, window, matrix @ np.r_[phi, states, -1.0], self._filter,
                           used) / expected
            covariance = covariance * np.outer(scale, scale)
        return linearised(problem, window.joint, matrix, np.r_[phi, states], covariance)

    def _state_information(self, problem: Problem) -> Array:
        """Information (16 + q, 16 + q) of parameters, biases and alignment before the data."""
        sd = np.r_[np.maximum(problem.bias_sd, 1e-9), problem.alignment_sd]
        out = np.zeros((PARAMETERS + len(sd), PARAMETERS + len(sd)))
        out[:PARAMETERS, :PARAMETERS] = vague_information(1.0)
        out[PARAMETERS:, PARAMETERS:] = np.diag(sd**-2.0)
        return out

    def _alignment(self, marginal: Marginal, phi: Array, covariance: Array) -> tuple[Array, Array]:
        """Alignment states (6,) and their standard deviations (6,), zero where not estimated."""
        values, sigma = np.zeros((2, ALIGNMENTS))
        of_alignment = slice(BIASES, BIASES + len(self._states))
        values[self._states] = marginal.states(phi)[of_alignment]
        spread = np.diag(marginal.state_covariance(covariance))[of_alignment]
        sigma[self._states] = np.sqrt(spread)
        return values, sigma

    def _residual(self, problem: Problem, phi: Array, bias: Array) -> Array:
        """Root mean square (6,) of the low-passed residual [N, N m]."""
        z = np.r_[phi, bias, -1.0]
        residual = problem.full.reshape(6, -1, COLUMNS) @ z
        return np.sqrt((residual**2).sum(axis=1) / max(problem.samples, 1))

    def _check_model(self, problem: Problem, log: FindingLog) -> None:
        """A clearly negative mass means that the sign of the wrench is wrong; a wrong frame leaves
        a plausible mass, and only what no payload explains tells."""
        marginal = problem.marginal("noise")
        phi, covariance = marginal.free_fit
        mass, bias = float(phi[0]), marginal.bias(phi)
        rms = self._residual(problem, phi, bias)
        is_large = self._misfit(rms) > _MISFIT
        if mass < -5.0 * np.sqrt(covariance[0, 0]):
            if self.tool is not None:
                raise InvalidData(
                    f"what hangs on the sensor is {-mass:.3f} kg lighter than the stored tool "
                    f"({self.tool.phi[0]:.3f} kg); clear the tool, or store it again")
            if is_large:
                raise named(log, "frame_wrong", f"the mass fits as {mass:.3f} kg with a large "
                             "residual: the sensor frame or the gravity frame is wrong")
            now = self._settings.wrench.convention
            other = "on_environment" if now == "on_sensor" else "on_sensor"
            raise named(log, "sign_wrong", f"the mass fits as {mass:.3f} kg: the wrench has the "
                         f"opposite sign; wrench.convention is '{now}', set it to '{other}'")
        nothing = np.zeros(PARAMETERS) if self.tool is None else -self.tool.phi
        load = self._residual(problem, nothing, bias)
        left = float(np.linalg.norm(rms[:3])) / max(float(np.linalg.norm(load[:3])), 1e-12)
        if is_large and left > _UNEXPLAINED:
            self._check_residual(rms, log)
            raise named(log, "frame_wrong", f"no payload explains the wrench ({left:.0%} of the "
                         "force is left): the sensor frame or the gravity frame is wrong, its "
                         "rotation may be transposed, or something touches the payload")

    def _check_settings(self, phi: Array, log: FindingLog) -> None:
        """Say where a setting and the data disagree, or a setting has no effect."""
        log.clear("mass_at_bound", "blend_without_alignment")
        bound = self._settings.estimator.max_mass
        if 0.0 < bound <= phi[0] * (1.0 + 1e-6):
            log.set("mass_at_bound", "warning",
                    f"the mass is {phi[0]:.3f} kg, estimator.max_mass is {bound:g} kg: the bound "
                    "is too low, or something pulls at the payload")
        if self._settings.estimator.weighting == "dynamism" and len(self._states):
            log.set("blend_without_alignment", "info", "estimator.weighting 'dynamism' takes the "
                    "sensor's rotation, the tilt of gravity and the clock offset as zero; "
                    "alignment.* has an effect with weighting 'noise' only")

    def _misfit(self, rms: Array) -> float:
        """Largest residual over the data-sheet noise of one sample."""
        return float((rms / sheet(self._settings.wrench)).max())

    def _check_residual(self, rms: Array, log: FindingLog) -> None:
        ratio = self._misfit(rms)
        if ratio > _MISFIT:
            log.set("residual_large", "warning",
                    f"the residual is {ratio:.0f} times the sensor noise: contact, a wrong "
                    "sensor or gravity frame, or another payload within the window")
        else:
            log.clear("residual_large")


def _unrotated(bias: Array, rotation: Array) -> Array:
    """Biases (6,) corrected for a rotation state (3,) whose columns hold the biased wrench."""
    turn = np.eye(3) + skew(rotation)
    return np.concatenate([np.linalg.solve(turn, bias[:3]), np.linalg.solve(turn, bias[3:])])
