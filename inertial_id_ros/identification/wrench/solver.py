# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the content of the window to an estimate: problem, estimator, checks, verdict."""

from __future__ import annotations

import time

import numpy as np

from ...detection.consistency_checks import (
    WindowFacts,
    check_model,
    check_noise_model,
    check_residual,
    check_settings,
    clear_model,
    look_at,
    residual_rms,
    sensor_errors,
    unexplained_share,
)
from ...detection.residual_shape import Shaped, check_residual_shape
from ...detection.shape_check import check_shape
from ...errors import InvalidData, NotEnoughData
from ...estimate import IDENTIFIED, NOTHING_CARRIED, UNOBSERVED, Estimate
from ...estimators import Estimator, Solution, create
from ...findings import FindingLog
from ...geometry.shape import Shape
from ...inertia import PARAMETERS, Array, is_consistent, min_eigenvalue, report_jacobian
from ...regression.alignment import GRAVITY_TILT, SENSOR_ROTATION
from ...regression.problem import Marginal, Problem, vague_information
from ...regression.regressor_window import DYNAMIC, WindowContent
from ...regression.row_layout import BIASES, NOTHING_REMOVED, NUISANCE_STATES, correct_bias, join
from ...regression.tool import Tool
from ...regression.uncertainty.cable import sideways_covariance
from ...regression.uncertainty.calibration import common_gain_covariance
from ...regression.uncertainty.encoder_noise import NO_MOTION_NOISE, motion_noise_covariance
from ...settings import Settings
from ...signals.bins import BIN_NS
from ...signals.low_pass import ZeroPhaseFilter
from ..estimator_problem import solve_for
from ..verdict import allowed_intervals, judge, name_limits
from .base_watch import BaseMoves
from .cable_watch import CABLE, CableWatch
from .empty_tool import answer_for_empty_tool
from .force_watch import ForceWatch
from .problem_builder import ProblemBuilder
from .sensor_bias import UNKNOWN_BIAS, SensorBias
from .swing_watch import Swing, swing_covariance
from .walk_watch import WalkWatch
from .wrench_model import (
    WrenchModel,
    orientation_covariance,
    position_covariance,
    unknown_acceleration_covariance,
)

_ROUNDS = 5  # with a noisy regressor
# Half width of a mass's interval, over the mass, up to which it is published: where the residual is
# explained, and where it is not.
_ROUGHLY_KNOWN, _KNOWN_BETTER = 0.5, 0.1
# A steady pull that may hide beside hysteresis: times the force that is left, at most [N]; and what
# the model of hysteresis leaves by itself, as a share of what it takes out.
_HIDES, _HIDDEN, _INEXACT = 15.0, 1.0, 0.15
_SETTLED = 0.03  # standard deviations by which the answer may still move
_UNEXPLAINED = "a residual that no payload explains"
_HYSTERESIS, _CABLE = "hysteresis of the sensor", "a cable"
_FORCE = "a force that is constant in the room"
# They widen the interval of a mass; whether the motion tells one at all does not depend on them.
_PASSING = _UNEXPLAINED, _HYSTERESIS, _CABLE, _FORCE
_UNKNOWN_ACCELERATION = "the unknown acceleration (publish the sensor's position, or move slowly)"


class Solver:
    """Everything between the compressed window and the published estimate.

    Args:
        settings: as checked; shape: of the object, or None; low_pass: the filter of the rows.
        bias: what is known of the sensor's biases before the data; tool: the stored one, or None.

    Attributes:
        problems: from windows.
        hysteresis: (6,) of the sensor in the last window, root mean square [N, N m].
    """

    def __init__(self, settings: Settings, shape: Shape | None, low_pass: ZeroPhaseFilter,
                 bias: SensorBias = UNKNOWN_BIAS, tool: Tool | None = None) -> None:
        self.shape, self._low_pass, self._settings = shape, low_pass, settings
        self.problems = ProblemBuilder(settings, low_pass, bias, tool)
        self.estimator = create(settings)
        self._cables = CableWatch(settings.gravity.acceleration)
        self._begin_with(NOTHING_REMOVED)

    def _begin_with(self, removed: Array) -> None:
        """Begin with samples without these values (n,) of the nuisance states: what was left of the
        others was that of a wrong set-up."""
        self._removed, self._walks = removed, WalkWatch()
        self._forces = ForceWatch(self._settings.gravity.acceleration)
        self.hysteresis: Array = np.zeros(BIASES)
        # What hysteresis that may be there did to the last window and to the one before it: None
        # where it was certain; and the last bin of the last one.
        self._maybe: tuple[Shaped | None, Shaped | None, int] = None, None, -1

    def with_settings(self, settings: Settings) -> Solver:
        """A fresh one with these settings, and the same shape, tare and tool."""
        return Solver(settings, self.shape, self._low_pass, self.bias, self.tool)

    make_estimator = staticmethod(create)

    @property
    def bias(self) -> SensorBias:
        """What is known of the sensor's biases before the data."""
        return self.problems.bias

    @bias.setter
    def bias(self, bias: SensorBias) -> None:
        self.problems.bias = bias

    @property
    def cables(self) -> CableWatch:
        """The cable that was found, if any."""
        return self._cables

    @property
    def walks(self) -> WalkWatch:
        """The walk of the payload that was found, if any."""
        return self._walks

    @property
    def tool(self) -> Tool | None:
        """The stored tool, beside which the object is estimated."""
        return self.problems.tool

    @tool.setter
    def tool(self, tool: Tool | None) -> None:
        self.problems.tool = tool

    def solve(self, window: WindowContent, frame_id: str, log: FindingLog, facts: WindowFacts,
              is_doubted: bool = False, turning: float = 0.0,
              removed: Array = NOTHING_REMOVED,
              acceleration_covariance: Array = NO_MOTION_NOISE,
              beyond: Array | float = 0.0, swing: Swing | BaseMoves | None = None) -> Estimate:
        """The estimate of a window.

        Args:
            facts: what is found to be wrong goes there.
            is_doubted: whether the detector has found that no payload explains the wrench.
            turning: see `unknown_acceleration_covariance`; 0 where the acceleration is known.
            removed: values (n,) of the nuisance states that were removed from the samples.
            acceleration_covariance: (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in
                a row; where the accelerations are measured, `window` tells it.
            beyond: (10, 10) covariance of further errors of phi that the window does not show.
            swing: a part of the payload that swings by itself, or a base that moves, if one does.

        Raises:
            NotEnoughData, InvalidShape: the estimator cannot answer.
            InvalidData: the answer is not physical (the text says what that points to).
        """
        try:
            return self._solve(window, frame_id, log, facts, is_doubted, turning, removed,
                               acceleration_covariance, beyond, swing)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            fresh = self.with_settings(self._settings)
            vars(self).update(vars(fresh))  # nothing of these numbers goes into the next window
            raise NotEnoughData("the numbers of this window break the computation "
                                f"({' '.join(str(error).split()) or type(error).__name__})"
                                ) from error

    def _solve(self, window: WindowContent, frame_id: str, log: FindingLog, facts: WindowFacts,
               is_doubted: bool, turning: float, removed: Array, acceleration_covariance: Array,
               beyond: Array | float, swing: Swing | BaseMoves | None) -> Estimate:
        """The method: from the factors of the window's rows to an estimate and its verdict.

        Each row is ``y = A(motion) phi + B x + e``: y the measured wrench about the sensor's
        origin, in the sense in which it carries the payload (`wrench.sign`), phi (10,) the payload,
        x biases, errors of the set-up and a stored tool with a Gaussian prior, e noise.

        1. Explain (`_explain`): a cable, a payload that walks and hysteresis are taken out of the
           rows, as this window and those before it show them, and noise gets its strength.
           Eliminating x leaves ``min |R phi - t|^2``.
        2. Answer (`answer`): objective and constraint stand in the estimator's module (`pmd`:
           masses >= 0; `lmi`: J >= eps J_0; `density`: densities > 0). Where the regressor is
           noisy, the noise follows phi, in a few rounds. With the weighting `dynamism` it fits the
           blend of both models; all else here is of the full model, weighted by noise.
        3. Residual: of phi and the states that are most probable beside it. Where it misfits, and
           the detector doubts as well, there is no estimate; where only it does, phi is less sure.
        4. Covariance: ``Sigma = Sigma_est + beyond + sum(causes)``, the first the estimator's, or
           the inverse of R'R and its prior; each cause is an error of phi that no fit counts.
        5. Verdict on each parameter by Sigma, and whether the motion tells the mass.

        Takes and raises what `solve` does, and keeps what it found for the next window; errors of
        the arithmetic pass through.
        """
        started = time.perf_counter()
        self._check_frames(frame_id, log)
        # What moves the wrench beside the payload: noise, small errors of the set-up, a cable,
        # hysteresis. They are states and covariances of the problem that is left for the payload.
        window, problem, shaped = self._explain(window, acceleration_covariance, removed, log,
                                                is_rigid=swing is None)
        facts.lags = shaped.wrench is not None
        # The payload: the estimator's answer, or that the stored tool carries nothing.
        problem, solution, is_empty = self._answer_or_empty(window, problem, log, facts)
        elapsed = time.perf_counter() - started
        if not is_consistent(solution.phi):
            raise InvalidData(
                f"'{self.estimator.name}' gives a body that cannot exist (smallest eigenvalue of "
                f"the pseudo-inertia {min_eigenvalue(solution.phi):.3g}); choose an estimator that "
                "guarantees consistency, or move more")
        # What is left of the wrench, and how far the answer may be off, by all that it may mean.
        marginal = problem.marginal("noise")
        states = marginal.states(solution.phi)
        rms, noise, facts.misfits = self._residual(window, problem, solution.phi, states,
                                                   acceleration_covariance, log)
        unseen = self._unseen_covariances(solution.phi, turning, removed, states)
        change = _change_with_constant_bias(problem, solution)
        causes = {
            # What is wrong may as well look like a load.
            _UNEXPLAINED: common_gain_covariance(
                self.problems.total_payload(solution.phi),
                unexplained_share(problem, solution.phi, states, noise)),
            # Either may be right: a bias that walks, or one that is constant.
            "noise that follows the motion": np.outer(change, change),
            _HYSTERESIS: shaped.covariance + self._hidden_pull(window, problem, shaped,
                                                               solution.phi),
            "a payload that walks": self._walks.phi_covariance(),
            _FORCE: self._forces.phi_covariance(),
            "a payload that is not rigid": swing_covariance(
                self.problems.total_payload(solution.phi), swing), **unseen}
        # The verdict on each parameter, and whether the mass is known well enough to be told.
        verdict = judge(solution, marginal, beyond + sum(causes.values()))
        reported = report_jacobian(solution.phi)
        moved = reported @ change
        check_noise_model(
            moved, (reported @ verdict.phi_covariance @ reported.T).diagonal() - moved**2,
            allowed_intervals(solution.phi, verdict.phi_covariance), log)
        if facts.misfits and is_doubted:
            raise InvalidData(WrenchModel.texts.doubted, is_finding=True)
        if is_empty:
            verdict = verdict._replace(
                verdict=(IDENTIFIED, *[UNOBSERVED] * (PARAMETERS - 1)), sentence=NOTHING_CARRIED)
        else:
            known = verdict.phi_covariance - sum(causes[name] for name in _PASSING)
            self._check_mass(solution, max(known[0, 0], 0.0), not facts.misfits)
        log.set("verdict", "info", verdict.sentence)
        mass_rate, com_speed = self._walks.rates
        nuisance, sigma = self._report_nuisance(marginal, states, verdict.phi_covariance, removed,
                                                shaped, log, facts)
        return Estimate(
            stamp_ns=(window.last + 1) * BIN_NS, frame_id=frame_id, phi=solution.phi,
            phi_covariance=verdict.phi_covariance,
            bias=self._settings.wrench.sign * correct_bias(states[:BIASES], nuisance),
            method=self.estimator.name, weighting=self._settings.estimator.weighting,
            data_share=verdict.data_share, verdict=verdict.verdict,
            alignment=nuisance, alignment_sigma=sigma, residual_rms=rms,
            samples=window.samples, window=window.duration,
            condition_number=verdict.condition_number,
            min_eigenvalue=min_eigenvalue(solution.phi), solve_time=elapsed,
            tool_apart=self.tool is not None, mass_rate=mass_rate, com_speed=com_speed,
            limits=name_limits(solution.phi, verdict.phi_covariance, causes))

    def _check_frames(self, frame_id: str, log: FindingLog) -> None:
        """Check that tare and tool belong to the frame of the wrench.

        A tare of an earlier run that does not is dropped.

        Raises:
            InvalidData: the stored tool does not.
        """
        tare = self.bias.tare
        if tare is not None and tare.frame_id != frame_id:
            self.bias = self.bias.without_old(
                f"it is of frame '{tare.frame_id}', and the wrench of '{frame_id}'", log)
        if self.tool is not None and self.tool.frame_id != frame_id:
            raise InvalidData(f"the stored tool is given in frame '{self.tool.frame_id}' and the "
                              f"wrench in '{frame_id}'; clear the tool and store it again")

    def _build(self, window: WindowContent, acceleration_covariance: Array, removed: Array,
               log: FindingLog) -> Problem:
        """The problem of a window; without the tare, and that dropped, where the data contradict
        it: a payload was attached, for instance."""
        problem = self.problems.build(window, acceleration_covariance, removed)
        if self.bias.tare is None:
            return problem
        seen = look_at(problem, self._settings)
        if not seen.is_suspect:
            return problem
        untared = ProblemBuilder(self._settings, self._low_pass, tool=self.tool)
        other = untared.build(window, acceleration_covariance, removed)
        if not seen.contradicts_tare(look_at(other, self._settings)):
            return problem
        self.problems = self.problems.without_solution()
        self.bias = UNKNOWN_BIAS
        log.set("tare_not_used.contradicted", "warning",
                "the tare does not fit the wrench since and is dropped: probably a payload was "
                "attached then, or the sensor was zeroed since; tare again at rest, with nothing "
                "attached")
        return other

    def _explain(self, window: WindowContent, acceleration_covariance: Array, removed: Array,
                 log: FindingLog, is_rigid: bool) -> tuple[WindowContent, Problem, Shaped]:
        """A window without the pull of a cable and without hysteresis, as the payload of now would
        have made it; its problem, and what hysteresis there was.

        Args:
            is_rigid: neither a part of the payload swings nor the base moves; else it is not asked
                whether it walks.
        """
        if not np.array_equal(removed, self._removed):
            self._begin_with(removed)
        window = self._cables.take_out(self.problems, window, removed)
        window = self._walks.take_out(self.problems, window)
        problem = self._build(window, acceleration_covariance, removed, log)
        without = (is_rigid and self._walks.search(self.problems, window, problem)
                   or self._cables.search(self.problems, window, problem, removed, is_rigid))
        if without is not None:
            window = without
            self.problems = self.problems.without_solution()
            problem = self._build(window, acceleration_covariance, removed, log)
        shaped = self._find_hysteresis(window, problem, log)
        self.hysteresis = shaped.size
        if shaped.wrench is not None:
            window = window.without(shaped.wrench)
            self.problems = self.problems.without_solution()
            problem = self._build(window, acceleration_covariance, removed, log
                                  ).with_errors(shaped.data)
        log.clear(CABLE)
        self._walks.report(log)
        self._forces.search(self.problems, window, problem)
        self._forces.report(log)
        return window, problem, shaped

    def _find_hysteresis(self, window: WindowContent, problem: Problem, log: FindingLog) -> Shaped:
        """What hysteresis does to a window; nothing where accelerations are measured, or in a blend
        of two models, which have no rows to spare."""
        if window.cross_channel is not None or DYNAMIC in window.factors:
            return check_residual_shape(None, log)
        marginal = problem.marginal("noise")
        phi, _ = marginal.unconstrained_fit
        found = check_residual_shape(self.problems.slice_means(
            window, problem, phi, marginal.unconstrained_states, self._removed), log)
        last, before, seen = self._maybe
        if window.last > seen:
            before = last
        self._maybe = found if found.wrench is None else None, before, window.last
        if found.wrench is not None or before is None:
            return found
        # What widens it once is chance.
        return found._replace(covariance=min(found.covariance, before.covariance,
                                             key=lambda covariance: covariance[0, 0]),
                              likely=min(found.likely, before.likely))

    def _hidden_pull(self, window: WindowContent, problem: Problem, shaped: Shaped,
                     phi: Array) -> Array:
        """Covariance (10, 10) of phi (10,) by a steady pull, whose small changes a model of
        hysteresis takes for its own: an absolute force, however light the payload is."""
        if not shaped.likely:
            return common_gain_covariance(phi, 0.0)
        left = self.problems.unexplained_force(window, problem)
        own = _INEXACT * float(np.linalg.norm(shaped.size[:3]))
        pull = min(_HIDES * np.sqrt(max(left**2 - own**2, 0.0)), _HIDDEN)
        share = pull / (self._settings.gravity.acceleration * max(phi[0], 1e-9))
        return np.asarray(shaped.likely * share**2 * np.outer(phi, phi))

    def _answer_or_empty(self, window: WindowContent, problem: Problem,
                         log: FindingLog, facts: WindowFacts) -> tuple[Problem, Solution, bool]:
        """As `answer`, by the estimator of the settings, and whether the stored tool carries
        nothing, which it need not be asked for."""
        empty = answer_for_empty_tool(problem, self.tool, self._settings.wrench.gain_error)
        if empty is not None:
            clear_model(log, facts)
            return problem, empty, True
        check_model(problem, self._settings, self.tool, log, facts,
                    self._cables.phi_covariance()[0, 0])
        shape = check_shape(self.shape, self._settings.shape, problem.marginal("noise"),
                            self.estimator, log)
        return *self.answer(self.estimator, problem, window, shape), False

    def _residual(self, window: WindowContent, problem: Problem, phi: Array, states: Array,
                  acceleration_covariance: Array,
                  log: FindingLog) -> tuple[Array, Array, bool]:
        """Root mean square (6,) of what phi (10,) and states leave of the wrench, what of it are
        errors of sensor and motion (6,) [N, N m], and whether it is more than these explain."""
        rms = residual_rms(problem, phi, states)
        motion = motion_noise_covariance(self.problems.total_payload(phi), acceleration_covariance)
        noise = np.sqrt(sensor_errors(self._settings.wrench) ** 2 + motion.diagonal()
                        + self.problems.calibration_variance(window, phi))
        misfits = check_residual(rms, noise, log)
        if not misfits:  # else a wrong frame may look like a pull
            self._cables.report(log)
        check_settings(phi, self._settings, log)
        return rms, noise, misfits

    def _unseen_covariances(self, phi: Array, turning: float, removed: Array,
                            states: Array) -> dict[str, Array]:
        """Covariances (10, 10) of phi (10,) by errors that leave no residual, by their causes.

        Args:
            turning, removed: as in `solve`; states: (6 + q,) that go with phi.
        """
        total, settings = self.problems.total_payload(phi), self._settings
        tilt = join(removed, self.problems.states.expand(
            self.problems.nuisance_values(states)))[GRAVITY_TILT.values]
        known = settings.alignment
        shift = (self.problems.unseen_shift if known.estimate_position
                 else position_covariance(phi, known.position_sd))
        return {
            _CABLE: self._cables.phi_covariance() + sideways_covariance(
                total, tilt, np.deg2rad(known.tilt_sd)),
            "where the sensor's origin lies (alignment.position_sd)": shift,
            _UNKNOWN_ACCELERATION: unknown_acceleration_covariance(
                phi, turning, settings.gravity.acceleration),
            "the gain of the sensor (wrench.gain_error)": common_gain_covariance(
                total, settings.wrench.gain_error),
            "how the sensor is turned (alignment.orientation_sd)": orientation_covariance(
                phi, np.deg2rad(settings.alignment.orientation_sd))}

    def _check_mass(self, solution: Solution, variance: float, is_explained: bool) -> None:
        """Raise NotEnoughData where the data hardly tell the mass, or the residual casts doubt on
        a mass that they tell roughly.

        Args:
            variance: of the mass, without that of a cable or of a residual that has a shape
                [kg^2].
        """
        mass, interval = solution.phi[0], 2.0 * float(np.sqrt(variance))
        if interval < (_ROUGHLY_KNOWN if is_explained else _KNOWN_BETTER) * mass:
            return
        if self.tool is not None:
            raise NotEnoughData(f"whether the tool carries anything is not known yet: "
                                f"{mass:.3f} ± {interval:.3f} kg beside it")
        raise NotEnoughData(
            f"the mass is not identified yet ({mass:.2f} ± {interval:.2f} kg); tilt "
            "the sensor by 20 to 30 degrees about two axes, or tare it without payload")

    def answer(self, estimator: Estimator, problem: Problem, window: WindowContent,
               shape: Shape | None) -> tuple[Problem, Solution]:
        """The estimator's answer, and the problem that it belongs to.

        Where the regressor is noisy that problem depends on the answer: a few rounds. An estimator
        that takes no notice of it keeps the problem it solves.
        """
        weighting = self._settings.estimator.weighting
        solution, last = solve_for(estimator, problem, weighting, shape), np.inf
        for _ in range(_ROUNDS if window.cross_channel is not None else 0):
            noisy = self.problems.add_regressor_noise(problem, window, solution.phi)
            found = solve_for(estimator, noisy, weighting, shape)
            change = float(np.linalg.norm(
                noisy.marginal("noise").matrix @ (found.phi - solution.phi)))
            if change == 0.0 or change > last:  # more than before: it runs away
                break
            problem, solution, last = noisy, found, change
            if change < _SETTLED:
                break
        return problem, solution

    def _report_nuisance(self, marginal: Marginal, states: Array, covariance: Array,
                         removed: Array, shaped: Shaped, log: FindingLog,
                         facts: WindowFacts) -> tuple[Array, Array]:
        """Values (n,) of all nuisance states with what was removed of them, and their standard
        deviations (n,); what is large of them is reported.

        Raises:
            InvalidData: one is larger than any mounting would make it.
        """
        nuisance, sigma = self.nuisance_values(marginal, states, covariance)
        if shaped.states is not None:  # hysteresis looks like a delay, and like small angles
            sigma = np.hypot(sigma, self.problems.states.expand(
                self.problems.nuisance_values(shaped.states)))
        nuisance = join(removed, nuisance)
        for state in NUISANCE_STATES:
            if state.is_too_large(nuisance[state.values]):
                self.problems = self.problems.without_solution()
                named = [True] * len(state.components)
                facts.frame = (state.describe(nuisance[state.values], named)
                               + ": more than a mounting gets wrong; the sensor frame or the "
                               "gravity frame is wrong")
                raise log.error("frame_wrong", facts.frame)
        noted = [state for state in NUISANCE_STATES
                 if state.report(nuisance[state.values], sigma[state.values], log)]
        facts.turned = SENSOR_ROTATION in noted or GRAVITY_TILT in noted
        return nuisance, sigma

    def nuisance_values(self, marginal: Marginal, states: Array,
                        covariance: Array) -> tuple[Array, Array]:
        """Values (n,) of all nuisance states and their standard deviations (n,), zeros where not
        estimated.

        Args:
            states: (6 + q,) that go with phi; covariance: (10, 10) of phi.
        """
        estimated = self.problems.states
        if not len(estimated):
            return estimated.expand(np.empty(0)), estimated.expand(np.empty(0))
        variance = marginal.state_covariance(covariance).diagonal()
        return (estimated.expand(self.problems.nuisance_values(states)),
                estimated.expand(np.sqrt(self.problems.nuisance_values(variance))))


def _change_with_constant_bias(problem: Problem, solution: Solution) -> Array:
    """By how much phi (10,) would change if the bias were constant; zeros where that is within
    chance."""
    if problem.unexpected is None:
        return np.zeros(PARAMETERS)
    return problem.unexpected.of_answer(
        vague_information(solution.phi[0]) + solution.prior_information)
