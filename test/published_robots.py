# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Answers published with the methods: a three-link robot and the Barrett WAM.

Sousa and Cortesao 2014, Tables 1, 2 and 5 to 7.
"""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from robots import WAM_A, WAM_ALPHA, WAM_D, arm_bodies, standard_dh, urdf

from inertial_id_ros.inertia import phi_from_body, transform_matrix
from inertial_id_ros.robot import TERMS
from inertial_id_ros.robot.base_parameters import BaseParameters, find_base_parameters
from inertial_id_ros.robot.convex import FORMS, Limits, robot_limits
from inertial_id_ros.robot.least_squares import Reference, description_reference, make_reference
from inertial_id_ros.robot.model import BODY_SIZE, JointTerms, RobotModel
from inertial_id_ros.robot.recording import Rows

_BODY = ("m", "lx", "ly", "lz", "Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz")

# Table 1: combinations of a three-link robot, the base column first.
THREE_LINKS = (
    {"Lyy1": 1, "Lyy2": 1, "Lyy3": 1, "m3": 1}, {"Lxx2": 1, "Lyy2": -1, "m3": -1}, {"Lxy2": 1},
    {"Lxz2": 1, "lz3": -1}, {"Lyz2": 1}, {"Lzz2": 1, "m3": 1}, {"lx2": 1, "m3": 1}, {"ly2": 1},
    {"Lxx3": 1, "Lyy3": -1}, {"Lxy3": 1}, {"Lxz3": 1}, {"Lyz3": 1}, {"Lzz3": 1}, {"lx3": 1},
    {"ly3": 1})
FEASIBLE = np.array([6.4, -5.48, 0.072, -0.087, 0.051, 5.6, 6.5, -0.00075, -0.72, -0.0098, -0.0098,
                     -0.00045, 0.72, 0.95, 0.015])
INFEASIBLE = np.array([6.2, *FEASIBLE[1:]])
CORRECTED = np.array([6.200951, -5.479049, 0.071966, -0.086967, 0.050999, 5.600000, 6.500000,
                      -0.000750, -0.719049, -0.009819, -0.009817, -0.000450, 0.720000, 0.949999,
                      0.014966])
DISTANCE = 1.65e-3  # sqrt(u')
STRICT = 1e-6  # the paper's margin


class ThreeLinks(NamedTuple):
    """Its base parameters, a robot of unit size for scale, and where its bodies are."""

    base: BaseParameters
    scale: Reference
    bodies: tuple[slice, ...]


def three_links() -> ThreeLinks:
    """The robot of Table 1, which is known by its base parameters only."""
    names = [f"{term}{k}" for k in (1, 2, 3) for term in _BODY]
    independent = np.array([names.index(next(iter(row))) for row in THREE_LINKS])
    matrix = np.array([[float(row.get(name, 0.0)) for name in names] for row in THREE_LINKS])
    base = BaseParameters(tuple(names), independent, matrix)
    unit = phi_from_body(1.0, np.zeros(3), np.eye(3))
    return ThreeLinks(base, make_reference(np.tile(unit, 3), 3),
                      tuple(slice(BODY_SIZE * k, BODY_SIZE * (k + 1)) for k in range(3)))


def strict(robot: ThreeLinks) -> Limits:
    """Spatial inertia of each body, less a margin, ``>= 0`` (eq. 21), in SI units."""
    return lambda phi: [cp.reshape(FORMS["spatial"] @ phi[where], (6, 6), order="C")
                        - STRICT * np.eye(6) for where in robot.bodies]


# Table 6, in the order of the base parameters: ordinary least squares, and FBPE-OLS within the
# boxes of Table 7 and 27 kg. What is not legible in our copy of the paper is from the authors'
# notebook, https://github.com/cdsousa/wam7_dyn_ident, as are the distance of BPFC, u, and the
# share of positions at which the mass matrix is not positive definite.
WAM_OLS = np.array([
    0.3381, 1.63, 1.601, 0.01037, 1.017, -0.0505, -0.02539, 1.451, -0.03322, 0.08154, 2.358, 2.372,
    0.533, 0.898, -0.01168, 0.03663, 0.002625, -0.06614, -0.04278, 0.1194, -0.002107, 0.1139,
    0.8554, 0.3454, -0.09566, 0.165, 0.01292, -0.02431, 0.1213, -0.01128, -0.1057, 0.5209,
    -0.005825, 0.6153, 0.6291, 0.05353, -0.008932, 0.005089, 0.0198, 0.006071, -0.0092, 0.006003,
    -0.01351, -0.0009694, 0.1457, 0.03597, 0.004681, 0.003965, 0.001507, -0.01062, 0.01942, 0.00495,
    -0.007862, 0.009031, -0.008871, 0.1437, 0.06428, -0.007354, -0.01584, -0.002082, 0.0002248,
    0.0002694, -0.0005387, 0.00782, -0.0003508, 0.0009977, 0.05763, 0.0118, -0.002192])
WAM_CONSTRAINED = np.array([
    0.3049, 1.648, 1.605, 0.007658, 1.04, -0.05561, -0.02304, 1.446, -0.038, 0.08391, 2.36, 2.364,
    0.5332, 0.9296, 0.0183, 0.02517, -0.00827, 0.001251, -0.03598, 0.1255, -0.0009105, 0.06988,
    0.8111, 0.3718, -0.08749, 0.1385, 0.009043, -0.01386, 0.1239, -0.005383, -0.101, 0.5174,
    1.009e-6, 0.6005, 0.6417, 0.03402, -0.01554, -0.002231, 0.01646, 0.007886, -0.002773, 0.006159,
    -0.01388, 1.004e-6, 0.1387, 0.03627, 0.001217, 0.009329, -0.002418, -0.003334, 0.01731,
    0.004267, -0.006727, 0.009509, 1.003e-6, 0.1344, 0.07144, -0.007547, -0.01357, -0.0009831,
    6.76e-5, 0.0007734, 0.0003627, 0.007006, -0.0003549, 0.0001039, 0.05625, 0.01253, -0.002699])
WAM_SAMPLES = 57656
# Table 7: corners of the centres of mass [m]; and the robot's largest mass [kg].
WAM_BOXES = np.array([
    [[-0.14, -0.174, -0.084], [0.14, 0.174, 0.346]],
    [[-0.084, -0.174, -0.084], [0.084, 0.174, 0.17]],
    [[-0.09, -0.55, -0.045], [0.04, 0.04, 0.045]],
    [[-0.045, -0.045, -0.05], [0.095, 0.045, 0.83]],
    [[-0.045, -0.02, -0.045], [0.045, 0.1, 0.045]],
    [[-0.045, -0.06, -0.02], [0.045, 0.045, 0.06]],
    [[-0.045, -0.045, -0.018], [0.045, 0.045, 0.001]]])
WAM_MASS = 27.0
# Table 5: the identification trajectory, a and b by joint and harmonic, and the positions between.
_WF = 0.1 * np.pi
_SINES = np.array([[0.05, -0.29, 0.48, 0.55, 0.65], [0.03, 0.29, -0.23, 0.32, 0.82],
                   [-0.07, 0.40, 0.45, 0.40, -0.03], [0.14, -0.35, 0.15, 0.11, 0.93],
                   [0.21, 0.35, 0.16, -0.02, 0.03], [-0.11, 0.28, 0.36, -0.06, 0.33],
                   [-0.01, 0.24, 0.37, -0.45, 0.75]])
_COSINES = np.array([[0.19, -0.40, -0.18, 0.63, -0.46], [0.09, -0.08, 0.05, -0.02, 0.65],
                     [-0.49, 0.32, -0.26, -0.63, 0.06], [-0.14, 0.06, -0.13, -0.14, -0.03],
                     [-0.51, 0.14, 0.37, -0.15, -0.17], [0.13, 0.07, 0.67, -0.15, -0.22],
                     [0.24, 0.24, -0.22, -0.50, -0.52]])
_MIDDLE = np.array([-0.29, 0.11, -0.02, 1.67, -2.41, 0.20, 0.58])
_PAPER_ORDER = ("Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz", "lx", "ly", "lz", "m", "Ia", "fv", "fc",
                "fo")
_TERMS = ("fv", "fc", "fo", "Ia")


class Wam(NamedTuple):
    """The WAM in the paper's frames.

    Attributes:
        model: with parameters in the frames of its URDF.
        to_model: (98, 98) those from the paper's, which stand at the far end of each link.
        base: base parameters of the paper's, tried in its order.
    """

    model: RobotModel
    to_model: np.ndarray
    base: BaseParameters


def wam() -> Wam:
    """The WAM of Table 2, with friction and drive inertia."""
    joints, ends = standard_dh(WAM_ALPHA, WAM_A, WAM_D)
    model = RobotModel.from_urdf(urdf(joints, arm_bodies(np.random.default_rng(0), 7)),
                                 JointTerms(TERMS[:4]))
    to_model = np.eye(model.size)
    for k, end in enumerate(ends):
        to_model[model.body_slice(k), model.body_slice(k)] = transform_matrix(
            end.rotation, end.translation)
    names = [f"{term}{k + 1}" for k in range(7) for term in _BODY]
    names += [f"{term}{k + 1}" for k in range(7) for term in _TERMS]
    rng = np.random.default_rng(0)
    q, dq, ddq = (scale * rng.normal(size=(60, 7)) for scale in (2.0, 1.0, 3.0))
    rows = model.regressor(q, dq, ddq).reshape(-1, model.size) @ to_model
    order = [names.index(f"{term}{k + 1}") for k in range(7) for term in _PAPER_ORDER]
    found = find_base_parameters(rows[:, order], names)
    return Wam(model, to_model, BaseParameters(
        tuple(names), np.array(order)[found.independent], found.matrix[:, np.argsort(order)]))


def wam_scale(arm: Wam) -> Reference:
    """A robot of about the right size, in the paper's frames."""
    design = description_reference(arm.model)
    return Reference(np.linalg.solve(arm.to_model, design.phi),
                     np.linalg.solve(arm.to_model, design.unit))


def wam_limits(arm: Wam, constrained: bool = False) -> Limits:
    """Those of the paper (eq. 28); `constrained`: those of Table 7 and the mass besides."""
    known = {"masses": [{"max": WAM_MASS}],
             "links": {f"link{k + 1}": {"box": box} for k, box in enumerate(WAM_BOXES)}}
    return robot_limits(arm.model.parameter_names, wam_scale(arm),
                        {"form": "spatial", **(known if constrained else {})})


def wam_motion(arm: Wam, step: float = 0.01) -> Rows:
    """The trajectory of Table 5 (eq. 78) and the torques of `WAM_OLS`, as if nothing were left."""
    t = np.arange(0.0, 1e-3 * WAM_SAMPLES, step)[:, None, None]
    w = _WF * np.arange(1, 6)
    sine, cosine = np.sin(w * t), np.cos(w * t)
    q = _MIDDLE + np.sum(_SINES / w * sine - _COSINES / w * cosine, axis=2)
    dq = np.sum(_SINES * cosine + _COSINES * sine, axis=2)
    ddq = np.sum(w * (_COSINES * cosine - _SINES * sine), axis=2)
    rows = arm.model.regressor(q, dq, ddq) @ arm.to_model
    return Rows(arm.model, t.ravel(), rows, rows[:, :, arm.base.independent] @ WAM_OLS)
