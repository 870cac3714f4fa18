# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot parameters with the log-determinant prior of Lee, Wensing and Park 2020, whitened.

``min |F phi - t|^2 + gamma sum_k (tr Z_k - log det Z_k)`` with ``Z_k = L_k^-1 J(phi_k) L_k^-T``,
``L_k L_k' = J`` of body k of the reference (their entropic divergence, eq. 19). The barrier keeps
every body consistent. Friction and drive inertia are 1x1 blocks of the same kind; offsets are free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators.solvers.log_det import line_search
from inertial_id_ros.estimators.solvers.triangle_vector import SIDE, smat, svec
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.base_parameters import BaseParameters, estimate_output_noise
from inertial_id_ros.robot.compression import Compressed
from inertial_id_ros.robot.consistent_fit import Identified, Prior, summarise
from inertial_id_ros.robot.constrained_least_squares import Optimum
from inertial_id_ros.robot.joint_terms import COULOMB, DRIVE, VISCOUS
from inertial_id_ros.robot.model import BODY_SIZE, RobotModel
from inertial_id_ros.robot.reference_robot import Reference

_FALL = 10.0  # of the weight from one point of the path to the next
_STEPS = 60  # Newton steps at one weight
_NEAR, _DONE = 1e-2, 1e-10  # squared Newton decrement, per gamma, on the path and at its end
_UNIT = svec(np.eye(SIDE))


@dataclass(frozen=True)
class _Blocks:
    """Which coordinates u are bodies, which are 1x1 blocks, and which are free."""

    bodies: int
    positive: np.ndarray
    free: np.ndarray


def identify_entropic(data: Compressed, base: BaseParameters, model: RobotModel, ref: Reference,
                      gamma: float, noise: Array | None = None) -> Identified:
    """The robot that fits the data and resembles the reference.

    Args:
        gamma: weight of the prior: each body resembles the reference's to about 1 / sqrt(gamma).
        noise: see `consistent_fit.identify`.

    Raises:
        NotEnoughData: an offset cannot be told, or no noise is given and cannot be found.
    """
    sd = estimate_output_noise(data, base) if noise is None else np.asarray(noise, dtype=float)
    factor = data.stack(sd)
    rows, target = factor[:, :-1], factor[:, -1]
    u, curvature = _minimise(rows @ ref.unit, target, gamma, _blocks(model))
    prior_rows = np.sqrt(0.5 * gamma) * curvature @ ref.inverse
    phi = ref.unit @ u
    found = Optimum(phi, np.zeros(0), 0.0, 0.0, False)
    return summarise(data, found, rows, prior_rows, Prior(ref, 0.5 * gamma), sd)


def _blocks(model: RobotModel) -> _Blocks:
    """The blocks of a robot's parameters."""
    count = BODY_SIZE * len(model.bodies)
    positive = [model.term_index(j, term) for j in range(len(model.joint_names))
                for term in model.terms.names if term in (VISCOUS, COULOMB, DRIVE)]
    return _Blocks(len(model.bodies), np.array(positive, dtype=int),
                   np.setdiff1d(np.arange(count, model.size), positive))


def _minimise(matrix: Array, target: Array, gamma: float, blocks: _Blocks) -> tuple[Array, Array]:
    """Optimum u (p,) of ``|matrix u - target|^2 + gamma (tr Z - log det Z)`` and a root of the
    barrier's Hessian there (p, p).

    Damped Newton steps in the frame of the present point, along a path of falling weights that
    starts where the prior outweighs the data.
    """
    factors = np.tile(np.eye(SIDE), (blocks.bodies, 1, 1))
    u = np.zeros(matrix.shape[1])
    u[:BODY_SIZE * blocks.bodies] = np.tile(_UNIT, blocks.bodies)
    u[blocks.positive] = 1.0
    slope = 2.0 * matrix.T @ (matrix @ u - target)
    weight = max(gamma, float(np.abs(slope).max()))
    while True:
        for _ in range(_STEPS):
            decrement = _newton_step(matrix, target, weight, blocks, factors, u)
            if decrement <= (_DONE if weight == gamma else _NEAR) * weight:
                break
        if weight == gamma:
            root = np.linalg.inv(_frame(blocks, factors, u))
            return u, root * _barred_mask(blocks, len(u))[:, None]
        weight = max(gamma, weight / _FALL)


def _newton_step(matrix: Array, target: Array, gamma: float, blocks: _Blocks, factors: Array,
                 u: Array) -> float:
    """Take one Newton step, in place on factors and u; return the squared decrement before it."""
    size = len(u)
    frame = _frame(blocks, factors, u)
    barred = _barred_mask(blocks, size)
    local = matrix @ frame
    residual = matrix @ u - target
    pull = _trace_gradient(blocks, factors, u)  # gradient of the sum of traces in the frame
    unit = np.zeros(size)
    unit[:BODY_SIZE * blocks.bodies] = np.tile(_UNIT, blocks.bodies)
    unit[blocks.positive] = 1.0
    root = np.sqrt(0.5 * gamma)
    system = np.concatenate([local, root * np.eye(size)[barred]])
    wanted = np.concatenate([-residual, root * (unit - pull)[barred]])
    upper = np.asarray(np.linalg.qr(np.column_stack([system, wanted]), mode="r"))
    triangle, goal = upper[:size, :size], upper[:size, size]
    if np.abs(np.diag(triangle)).min() <= 1e-13 * np.abs(np.diag(triangle)).max():
        raise NotEnoughData("the recording does not show the offset of every joint")
    z = np.linalg.solve(triangle, goal)
    changes = smat(z[:BODY_SIZE * blocks.bodies].reshape(-1, BODY_SIZE))
    values, vectors = np.linalg.eigh(changes)
    across = local @ z
    linear = 2.0 * float(residual @ across) + gamma * float(pull @ z)
    step = line_search(linear, float(across @ across), gamma,
                       np.concatenate([values.ravel(), z[blocks.positive]]))
    u += step * (frame @ z)
    factors[:] = factors @ (vectors * np.sqrt(1.0 + step * values)[:, None, :])
    return 2.0 * float(goal @ goal)


def _barred_mask(blocks: _Blocks, size: int) -> np.ndarray:
    """Which coordinates have a barrier (p,)."""
    out = np.ones(size, dtype=bool)
    out[blocks.free] = False
    return out


def _frame(blocks: _Blocks, factors: Array, u: Array) -> Array:
    """Matrix (p, p): changes of u from changes z in the frame of the factors, ``P (1 + Z) P'``."""
    out = np.eye(len(u))
    units = smat(np.eye(BODY_SIZE))
    for k, factor in enumerate(factors):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        out[where, where] = svec(factor @ units @ factor.T).T
    out[blocks.positive, blocks.positive] = u[blocks.positive]
    return out


def _trace_gradient(blocks: _Blocks, factors: Array, u: Array) -> Array:
    """Gradient (p,) in the frame of the sum of traces of all blocks."""
    out = np.zeros(len(u))
    gram = factors.transpose(0, 2, 1) @ factors
    out[:BODY_SIZE * blocks.bodies] = svec(gram).ravel()
    out[blocks.positive] = u[blocks.positive]
    return out
