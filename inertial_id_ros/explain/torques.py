# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What explains joint torques beside an identified robot: a payload, and the robot's errors.

A linear fit, steady or of a payload that pours, whose noise is that of independent rows which say
as much as what it leaves. Where a joint stands or turns back, its friction may be anything between
the two directions': such rows are scaled down as if that were noise.
"""

from typing import NamedTuple

import numpy as np

from ..model.history import Window
from ..model.rows import HALF, STEP, stretches
from ..model.setup import Setup
from ..motion.motion import BIN, Array
from ..robot.least_squares import equivalent_white_noise, friction_weight
from ..robot.robot_file import LoadColumns, TorqueLoad
from .contradictions import SIGNIFICANT, Reason
from .fit import VAGUE
from .laws import Pouring
from .residual import LARGE
from .terms import DECIDED

KERNEL = np.hanning(2 * HALF + 3) / (HALF + 1)  # bins, as long as that of a wrench
EVERY = 2.0  # s, of stretches in which a payload pours evenly: torques tell less
ROUNDS, LEAST = 3, 1e-3  # of the noise; of the robot's own: what rows leave at least
UNEXPLAINED = 0.3  # share of the payload's torques that the right robot may leave
OPPOSITE, LOADED = -0.5, 10.0  # of the robot's own torque; noises that this must reach to be judged


class TorqueExplanation(NamedTuple):
    """The payload in the torques of a window.

    Attributes:
        phi, covariance: (10,), (10, 10) of now, the robot's errors marginalised; wide: the same,
            as there is no other scale.
        residual: (j,) root mean square that is left [N m]; rows: (r, j, 11) ``[A | torque]``,
            each scaled by its weight.
        refused: why the payload cannot be true; named: kinds and numbers of findings.
        setup, is_outdated: as described; the scan tells what changes.
    """

    phi: Array
    covariance: Array
    wide_phi: Array
    wide_covariance: Array
    residual: Array
    rows: Array
    refused: tuple[Reason, ...]
    named: tuple[Reason, ...]
    setup: Setup = Setup()
    is_outdated: bool = False


class Fitted(NamedTuple):
    """A fit of r rows: phi (10,) of the payload; values in units of their priors, its own first,
    with their covariance; weight (r, j) of rows, and residual (r, j), so weighed [N m]; noise (j,)
    that was found; cost: minus the logarithm of the evidence."""

    phi: Array
    values: Array
    covariance: Array
    weight: Array
    residual: Array
    noise: Array
    cost: float


def explain_torques(window: Window, load: TorqueLoad, zero_moved: bool) -> TorqueExplanation:
    """Explain the torques of a window, whose samples are rows of the load; it has rows; zero_moved:
    True if the zeros of the torques are no longer those of the robot file."""
    some = stretches(window.used)
    parts = [stretch.smooth(window.wrench, KERNEL, 0) for stretch in some]
    rows = load.columns(np.concatenate([
        0.25 * part[:-2] + 0.5 * part[1:-1] + 0.25 * part[2:] for part in parts]))
    # A zero that has moved may be anywhere within what was measured.
    zeros = np.diag(np.abs(rows.torque).max(0))[:, :load.joints * zero_moved]
    zeros = np.broadcast_to(zeros, (len(rows.torque), *zeros.shape))
    fit, named = _fitted(rows, load, zeros), tuple[Reason, ...]()
    if (np.square(fit.residual).mean(0) > np.square(load.robot.noise)).any():
        age = BIN * (len(window.used) - np.concatenate([
            stretch.first + STEP * np.arange(1, stretch.n - 1) for stretch in some]))
        fit, named = _walking(rows, load, zeros, age, fit)
    phi, residual = fit.phi, np.sqrt(np.mean(fit.residual**2, axis=0))
    covariance = fit.covariance[:10, :10] * VAGUE * VAGUE[:, None]
    reasons = _judge(load, rows, residual, phi, float(np.sqrt(covariance[0, 0])))
    is_mild = any(name == "robot_wrong.residual" for name, _ in reasons)
    plain = np.concatenate([rows.A, (rows.A @ phi)[..., None]], axis=2) * fit.weight[..., None]
    plain[..., 10] += fit.residual
    return TorqueExplanation(phi, covariance, phi, covariance, residual, plain,
                             () if is_mild else reasons, named + reasons if is_mild else named)


def _fitted(rows: LoadColumns, load: TorqueLoad, more: Array, known: Fitted | None = None
            ) -> Fitted:
    """The fit of payload, further columns (r, j, k) and the robot's errors; known: a fit whose
    noise is that of this one."""
    own, phi = load.robot.noise, np.zeros(10) if known is None else known.phi
    noise = own if known is None else np.maximum(known.noise, own)
    weight = friction_weight(rows.sign, load.friction / own)
    full = np.maximum(np.sqrt(np.mean(weight**2, axis=0)), LEAST)  # of a row that is not scaled
    for _ in range(ROUNDS if known is None else 1):
        errors = rows.errors + (rows.own + rows.A @ phi)[..., None] * load.in_proportion
        X = np.concatenate([rows.A * VAGUE, more, errors], axis=2)
        whitened = (X * (weight / noise)[..., None]).reshape(-1, X.shape[2])
        normal = whitened.T @ whitened + np.eye(X.shape[2])
        unit = np.linalg.inv(normal)
        u = unit @ (whitened.T @ (rows.torque * weight / noise).ravel())
        left = (rows.torque - X @ u) * weight
        cost = 0.5 * float(np.square(left / noise).sum() + u @ u + np.linalg.slogdet(normal)[1])
        noise = np.maximum(equivalent_white_noise(left, LEAST * own) / full, LEAST * own)
        phi = VAGUE * u[:10]
    return Fitted(phi, u, unit, weight, left, noise, cost)


def _walking(rows: LoadColumns, load: TorqueLoad, zeros: Array, age: Array, steady: Fitted
             ) -> tuple[Fitted, tuple[Reason, ...]]:
    """The fit of a payload that pours or slides, and its finding; or the steady one, where that is
    as likely; age: (r,) of rows [s]."""
    pouring = Pouring(age[0], EVERY)
    columns = np.concatenate([pouring.slopes(rows.A, steady.phi, age) * pouring.sd, zeros], axis=2)
    known = _fitted(rows, load, columns)
    fit = _fitted(rows, load, columns, known)
    if fit.cost + DECIDED > _fitted(rows, load, zeros, known).cost:
        return steady, ()
    values, sd = (pouring.sd * x[10:10 + len(pouring.sd)] for x in (
        fit.values, np.sqrt(np.diag(fit.covariance))))
    return fit, ((pouring.name, {**pouring.describe(fit.phi, values, sd)}),)


def _judge(load: TorqueLoad, rows: LoadColumns, residual: Array, phi: Array, sd: float
           ) -> tuple[Reason, ...]:
    """In which way the robot is wrong, if it is; sd: of the mass [kg]."""
    names, ratio = np.array(load.robot.joints), residual / load.robot.noise
    is_negative = phi[0] < -SIGNIFICANT * sd
    if ratio.max() <= LARGE:
        return (("robot_wrong.mass", {"mass": float(phi[0])}),) if is_negative else ()
    # Joints whose efforts follow the robot's own torques, with the opposite sign.
    power = np.square(rows.own).sum(0)
    judged = np.sqrt(power / len(rows.own)) > LOADED * load.robot.noise
    along = (rows.own * (rows.torque + rows.own)).sum(0) / np.maximum(power, 1e-300)
    opposite = judged & (along < OPPOSITE)
    if opposite.any():
        return (("robot_wrong.sign", {"joints": "all joints" if (opposite == judged).all() else
                                      ", ".join(f"'{name}'" for name in names[opposite])}),)
    share = np.linalg.norm(residual) / (np.linalg.norm(rows.torque) / np.sqrt(len(rows.torque)))
    is_large = share > UNEXPLAINED or is_negative
    return (("robot_wrong" if is_large else "robot_wrong.residual", {
        "times": float(ratio.max()), "joint": str(names[ratio.argmax()])}),)
