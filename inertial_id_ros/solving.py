"""From the buffer's content to an estimate: noise, estimator, covariance, verdict."""

from __future__ import annotations

import time

import numpy as np

from .alignment import prior_sd, report
from .bins import BIN_NS
from .buffer import DYNAMIC, FULL, STATIC, Window, triangle
from .errors import InvalidData, NotEnoughData
from .estimate import UNOBSERVED, Estimate
from .estimators import Estimator, Marginal, Problem, Solution, create
from .estimators.base import COLUMNS
from .filtering import TwoSidedFilter
from .findings import FindingLog
from .inertia import Array, is_consistent, min_eigenvalue, skew
from .noise import block_slices, degrees_of_freedom, refine
from .regressor_noise import linearised, residual_covariance
from .row_layout import ALIGNMENTS, BIASES, PARAMETERS, linearisation
from .settings import Settings, WrenchSettings
from .shape import Shape
from .verdict import judge, unknown_acceleration, vague_information

_ROUNDS = 3
_NOISY_ROUNDS = 5
_SETTLED = 0.03  # standard deviations by which the answer may still move
_TARE_SAMPLES = 20
_REST = 5.0  # a reading that varies by more than this many standard deviations is not at rest
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
        self._filter = filtering
        self._sign = sign
        self._tare: Array | None = None
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Use these settings from now on (raises UnknownEstimator)."""
        self._estimator = create(settings)
        self._settings = settings
        self._alignment_sd = prior_sd(settings.alignment)
        self._states = np.flatnonzero(self._alignment_sd)

    def reset(self) -> None:
        """Forget what was learnt from earlier data, except the tare."""
        self._estimator = create(self._settings)

    def tare(self, readings: Array) -> str:
        """Use the mean of readings (n, 6) as the bias.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        removed = self._settings.precompensated.mass
        if removed > 0.0:
            raise NotEnoughData(
                f"tare needs the sensor's own reading, but the driver removes a payload from it "
                f"(precompensated.mass is {removed:g} kg); set the driver's payload to zero first")
        if len(readings) < _TARE_SAMPLES:
            raise NotEnoughData(f"tare needs {_TARE_SAMPLES} wrench samples within a second; "
                                f"{len(readings)} were received")
        spread = readings.std(axis=0) / sheet(self._settings.wrench)
        if spread.max() > _REST:
            raise NotEnoughData(
                f"tare needs a sensor at rest; its readings vary by {spread.max():.0f} times the "
                "noise in the settings")
        self._tare = readings.mean(axis=0)
        f, t = self._tare[:3], self._tare[3:]
        return ("bias set to force [" + ", ".join(f"{v:.3f}" for v in f) + "] N, torque ["
                + ", ".join(f"{v:.4f}" for v in t) + f"] N m from {len(readings)} samples")

    def _bias_prior(self) -> tuple[Array, Array]:
        """Mean and standard deviation (6,) of the biases before the window's data."""
        wrench, estimator = self._settings.wrench, self._settings.estimator
        mean = np.zeros(BIASES) if self._tare is None else self._sign * self._tare
        if not estimator.estimate_bias:
            return mean, np.zeros(BIASES)
        if self._tare is not None:
            return mean, sheet(wrench)  # a tared sensor drifts by about its noise
        return mean, np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3)

    def _problem(self, window: Window, noise: Array, at: Array, alignment: Array) -> Problem:
        """The compressed problem, linearised at phi (10,) and with these alignment values (6,)."""
        matrix = linearisation(at, self._states)
        fixed = matrix.copy()
        fixed[:, -1] -= matrix[:, PARAMETERS + BIASES:-1] @ alignment[self._states]
        plain = np.delete(fixed, np.s_[PARAMETERS + BIASES:-1], axis=1)
        mean, sd = self._bias_prior()
        factors = {model: triangle(f @ plain).reshape(-1, plain.shape[1])
                   for model, f in window.factors.items()}
        aligned = triangle(window.factors[FULL] @ matrix).reshape(-1, matrix.shape[1])
        return Problem(factors[FULL], factors[DYNAMIC], factors[STATIC], noise, sd, mean,
                       window.samples, aligned, self._alignment_sd[self._states])

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
        started = time.perf_counter()
        problem = self._prepare(window)
        self._check_sign(problem)
        problem, solution = self._answer(self._estimator, problem, window)
        elapsed = time.perf_counter() - started
        if not is_consistent(solution.phi):
            raise InvalidData(
                f"'{self._estimator.name}' gives a body that cannot exist (smallest eigenvalue of "
                f"the pseudo-inertia {min_eigenvalue(solution.phi):.3g}); choose an estimator that "
                "guarantees consistency, or move more")
        rms = self._residual(problem, solution.phi, solution.bias)
        self._check_residual(rms, log)
        marginal = problem.marginal("noise")
        verdict = judge(solution, marginal, unknown_acceleration(
            solution.phi, turning, self._settings.gravity.acceleration))
        if verdict.verdict[0] == UNOBSERVED:
            sd = float(np.sqrt(verdict.phi_covariance[0, 0]))
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
            min_eigenvalue=min_eigenvalue(solution.phi), solve_time=elapsed)

    def _prepare(self, window: Window) -> Problem:
        """The problem, linearised and with its noise corrected, in a few cheap rounds."""
        noise: Array = sheet(self._settings.wrench)
        slices = block_slices(window.duration, window.slice_length)
        phi, alignment = np.zeros(PARAMETERS), np.zeros(ALIGNMENTS)
        for _ in range(_ROUNDS):
            problem = self._problem(window, noise, phi, alignment)
            marginal = problem.marginal("noise")
            covariance = np.linalg.inv(marginal.information + vague_information(1.0))
            matrix = linearisation(phi, self._states)
            phi = covariance @ (marginal.matrix.T @ marginal.target)
            states = marginal.states(phi)
            alignment[self._states] = states[BIASES:]
            if self._settings.estimator.estimate_noise:
                used = degrees_of_freedom(problem.whitened(problem.aligned)[:, :-1],
                                          self._state_information(problem))
                noise = refine(sheet(self._settings.wrench), window,
                               matrix @ np.r_[phi, states, -1.0], self._filter, slices, used)
        return self._problem(window, noise, phi, alignment)

    def _answer(self, estimator: Estimator, problem: Problem,
                window: Window) -> tuple[Problem, Solution]:
        """The estimator's answer, and the problem that it belongs to.

        Where the regressor is noisy that problem depends on the answer: a few rounds. An estimator
        that takes no notice of it keeps the problem it solves.
        """
        solution, last = estimator.solve(problem, self.shape), np.inf
        for _ in range(_NOISY_ROUNDS if window.joint is not None else 0):
            noisy = self._with_regressor_noise(problem, window, solution.phi)
            found = estimator.solve(noisy, self.shape)
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
        matrix = linearisation(phi, self._states)
        covariance = residual_covariance(phi, sheet(self._settings.wrench),
                                         window.joint.acceleration_noise)
        if self._settings.estimator.estimate_noise:
            expected = np.sqrt(np.diag(covariance))
            used = degrees_of_freedom(problem.whitened(problem.aligned)[:, :-1],
                                      self._state_information(problem))
            scale = refine(expected, window, matrix @ np.r_[phi, states, -1.0], self._filter,
                           block_slices(window.duration, window.slice_length), used) / expected
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
        values[self._states] = marginal.states(phi)[BIASES:]
        spread = np.diag(marginal.state_covariance(covariance))[BIASES:]
        sigma[self._states] = np.sqrt(spread)
        return values, sigma

    def _residual(self, problem: Problem, phi: Array, bias: Array) -> Array:
        """Root mean square (6,) of the low-passed residual [N, N m]."""
        z = np.r_[phi, bias, -1.0]
        residual = problem.full.reshape(6, -1, COLUMNS) @ z
        return np.sqrt((residual**2).sum(axis=1) / max(problem.samples, 1))

    def _check_sign(self, problem: Problem) -> None:
        """A clearly negative mass means that the sign of the wrench is wrong."""
        marginal = problem.marginal("noise")
        covariance = np.linalg.inv(marginal.information + vague_information(1.0))
        phi = covariance @ (marginal.matrix.T @ marginal.target)
        mass = float(phi[0])
        if mass < -5.0 * np.sqrt(covariance[0, 0]):
            if self._misfit(self._residual(problem, phi, marginal.bias(phi))) > _MISFIT:
                raise InvalidData(f"the mass fits as {mass:.3f} kg with a large residual: the "
                                  "sensor frame or the gravity frame is wrong")
            now = self._settings.wrench.convention
            other = "on_environment" if now == "on_sensor" else "on_sensor"
            raise InvalidData(f"the mass fits as {mass:.3f} kg: the wrench has the opposite sign; "
                              f"wrench.convention is '{now}', set it to '{other}'")

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
