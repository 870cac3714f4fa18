"""From the buffer's content to an estimate: noise, estimator, covariance, verdict."""

from __future__ import annotations

import time

import numpy as np

from .bins import BIN_NS
from .buffer import DYNAMIC, FULL, STATIC, Window
from .errors import InvalidData, NotEnoughData
from .estimate import UNOBSERVED, Estimate
from .estimators import Problem, create
from .estimators.base import BIASES, COLUMNS
from .filtering import TwoSidedFilter
from .findings import FindingLog
from .inertia import Array, is_consistent, min_eigenvalue
from .noise import block_slices, effective_parameters, refine
from .settings import Settings, WrenchSettings
from .shape import Shape
from .verdict import judge, unknown_acceleration, vague_information

_NOISE_ROUNDS = 2
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

    def _problem(self, window: Window, noise: Array) -> Problem:
        wrench, estimator = self._settings.wrench, self._settings.estimator
        mean = np.zeros(BIASES) if self._tare is None else self._sign * self._tare
        if not estimator.estimate_bias:
            sd: Array = np.zeros(BIASES)
        elif self._tare is not None:
            sd = sheet(wrench)  # a tared sensor drifts by about its noise
        else:
            sd = np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3)
        factors = window.factors.reshape(len(window.factors), 6 * COLUMNS, COLUMNS)
        return Problem(factors[FULL], factors[DYNAMIC], factors[STATIC], noise, sd, mean,
                       window.samples)

    def solve(self, window: Window, frame_id: str, log: FindingLog,
              turning: float = 0.0) -> Estimate:
        """The estimate of a window.

        Args:
            turning: see `verdict.unknown_acceleration`; 0 where the acceleration is known.

        Raises:
            NotEnoughData, InvalidShape: the estimator cannot answer.
            InvalidData: the answer is not physical (the text says what that points to).
        """
        started = time.perf_counter()
        noise = self._noise(window)
        problem = self._problem(window, noise)
        self._check_sign(problem)
        solution = self._estimator.solve(problem, self.shape)
        elapsed = time.perf_counter() - started
        if not is_consistent(solution.phi):
            raise InvalidData(
                f"'{self._estimator.name}' gives a body that cannot exist (smallest eigenvalue of "
                f"the pseudo-inertia {min_eigenvalue(solution.phi):.3g}); choose an estimator that "
                "guarantees consistency, or move more")
        rms = self._residual(problem, solution.phi, solution.bias)
        self._check_residual(rms, log)
        verdict = judge(solution.phi, problem.marginal("noise"), solution.prior_information,
                        unknown_acceleration(solution.phi, turning,
                                             self._settings.gravity.acceleration))
        if verdict.verdict[0] == UNOBSERVED:
            sd = float(np.sqrt(verdict.phi_covariance[0, 0]))
            raise NotEnoughData(
                f"the mass is not identified yet ({solution.phi[0]:.2f} ± {2.0 * sd:.2f} kg); tilt "
                "the sensor by 20 to 30 degrees about two axes, or tare it without payload")
        log.set("verdict", "info", verdict.sentence)
        return Estimate(
            stamp_ns=(window.last + 1) * BIN_NS, frame_id=frame_id, phi=solution.phi,
            phi_covariance=verdict.phi_covariance, bias=self._sign * solution.bias,
            method=self._estimator.name, weighting=self._settings.estimator.weighting,
            data_share=verdict.data_share, verdict=verdict.verdict, residual_rms=rms,
            samples=window.samples, window=window.duration,
            condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi), solve_time=elapsed)

    def _noise(self, window: Window) -> Array:
        """Data-sheet noise, corrected from the residual of a weakly regularised fit."""
        noise: Array = sheet(self._settings.wrench)
        if not self._settings.estimator.estimate_noise:
            return noise
        slices = block_slices(window.duration, window.slice_length)
        for _ in range(_NOISE_ROUNDS):
            problem = self._problem(window, noise)
            marginal = problem.marginal("noise")
            information = marginal.information
            covariance = np.linalg.inv(information + vague_information(1.0))
            phi = covariance @ (marginal.matrix.T @ marginal.target)
            used = effective_parameters(information, covariance, BIASES * problem.has_bias)
            noise = refine(sheet(self._settings.wrench), window,
                           np.r_[phi, marginal.bias(phi)], self._filter, slices, used)
        return noise

    def _residual(self, problem: Problem, phi: Array, bias: Array) -> Array:
        """Root mean square (6,) of the low-passed residual [N, N m]."""
        z = np.r_[phi, bias, -1.0]
        residual = problem.full.reshape(6, COLUMNS, COLUMNS) @ z
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
