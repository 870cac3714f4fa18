# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Answers published with the methods: a three-link robot and the Barrett WAM.

Sousa and Cortesao 2014, Tables 1 and 6. Entries of Table 6 that are not legible in our copy of the
paper are left out, and whatever is shown with the rest is shown for any value of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.robot.reference.constraints import BODY_FORMS, robot_of_form
from benchmarks.robot.reference.feasibility import (
    Feasibility,
    check_feasibility,
    correct_to_feasible,
)
from benchmarks.robot.robots import WAM_A, WAM_ALPHA, WAM_D, arm_bodies, standard_dh, urdf
from inertial_id_ros.inertia import Array, phi_from_body, transform_matrix
from inertial_id_ros.robot.base_parameters import BaseParameters, find_base_parameters
from inertial_id_ros.robot.constraints import (
    Constraint,
    Reference,
    description_reference,
    make_reference,
)
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import BODY_SIZE, RobotModel

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
    dependent = np.setdiff1d(np.arange(len(names)), independent)
    matrix = np.zeros((len(THREE_LINKS), len(names)))
    for k, row in enumerate(THREE_LINKS):
        for name, value in row.items():
            matrix[k, names.index(name)] = value
    base = BaseParameters(tuple(names), independent, dependent, matrix[:, dependent], 1.0, 0.0)
    unit = phi_from_body(1.0, np.zeros(3), np.eye(3))
    return ThreeLinks(base, make_reference(np.tile(unit, 3), 3),
                      tuple(slice(BODY_SIZE * k, BODY_SIZE * (k + 1)) for k in range(3)))


# Table 6: ordinary least squares, by the name of the base column.
WAM_OLS = {
    "Lyy1": 0.3381, "fv1": 1.63, "fc1": 1.601, "fo1": 0.01037,
    "Lxx2": 1.017, "Lxy2": -0.0505, "Lyy2": 1.451, "Lyz2": -0.03322, "lx2": 0.08154, "lz2": 2.358,
    "fv2": 2.372, "fc2": 0.533, "fo2": 0.898,
    "Lxx3": -0.01168, "Lxy3": 0.03663, "Lxz3": 0.002625, "Lyz3": -0.04278, "lz3": -0.002107,
    "Ia3": 0.1139, "fv3": 0.8554, "fc3": 0.3454, "fo3": -0.09566,
    "Lxy4": 0.01292, "Lxz4": -0.02431, "lx4": -0.1057, "lz4": 0.5209,
    "Ia4": -0.005825, "fv4": 0.6153, "fc4": 0.6291, "fo4": 0.05353,
    "Lxx5": -0.008932, "Lyy5": 0.006071, "Lyz5": -0.0092, "lx5": 0.006003,
    "lz5": -0.01351, "Ia5": -0.0009694, "fv5": 0.1457, "fc5": 0.03597, "fo5": 0.004681,
    "Lxz6": -0.01062, "lx6": -0.007862, "lz6": 0.009031,
    "Ia6": -0.008871, "fv6": 0.1437, "fc6": 0.06428,
    "Lxy7": -0.002082, "Lxz7": 0.0002248, "Lyz7": 0.0002694, "Lzz7": -0.0005387, "lx7": 0.00782,
    "ly7": -0.0003508, "fv7": 0.05763, "fc7": 0.0118, "fo7": -0.002192}
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
                                 JointTerms(drive_inertia=True))
    to_model = np.eye(model.size)
    for k, end in enumerate(ends):
        to_model[model.body_slice(k), model.body_slice(k)] = transform_matrix(
            end.rotation.as_matrix(), end.translation)
    names = [f"{term}{k + 1}" for k in range(7) for term in _BODY]
    names += [f"{term}{k + 1}" for k in range(7) for term in _TERMS]
    rng = np.random.default_rng(0)
    q, dq, ddq = (scale * rng.normal(size=(60, 7)) for scale in (2.0, 1.0, 3.0))
    rows = model.regressor(q, dq, ddq).reshape(-1, model.size) @ to_model
    order = [names.index(f"{term}{k + 1}") for k in range(7) for term in _PAPER_ORDER]
    return Wam(model, to_model, find_base_parameters(rows, names, order))


def legible(base: BaseParameters) -> tuple[BaseParameters, np.ndarray]:
    """The base parameters of Table 6 that can be read, all others free, and their estimates."""
    there = np.array([base.names[k] in WAM_OLS for k in base.independent])
    matrix = base.matrix[there]
    independent = base.independent[there]
    dependent = np.setdiff1d(np.arange(len(base.names)), independent)
    beta = np.array([WAM_OLS[base.names[k]] for k in independent])
    return BaseParameters(base.names, independent, dependent, matrix[:, dependent], base.kept,
                          base.dropped), beta


class WamAnswers(NamedTuple):
    """What is found for the published estimate of the WAM.

    Attributes:
        links: the test with the links' 6x6 consistency alone; drives: with friction and drives.
        indefinite: share of random positions at which the mass matrix of the nearest feasible
            estimate is not positive definite.
    """

    links: Feasibility
    drives: Feasibility
    indefinite: float


def mass_matrix(model: RobotModel, phi: Array, q: Array) -> Array:
    """Mass matrices (n, nv, nv) at positions q (n, nv), drive inertia included."""
    rest = np.zeros((len(q), model.nv))
    still = model.torque(phi, q, rest, rest)
    return np.stack([model.torque(phi, q, rest, rest + e) - still for e in np.eye(model.nv)],
                    axis=-1)


def wam_answers(positions: int = 500) -> WamAnswers:
    """Feasibility of the ordinary least squares of Table 6."""
    arm = wam()
    base, beta = legible(arm.base)
    design = description_reference(arm.model)
    limits = [Constraint(c.matrix @ arm.to_model, c.offset, c.cones, c.text)
              for c in robot_of_form(arm.model, "spatial")]
    scale = Reference(np.linalg.solve(arm.to_model, design.phi),
                      np.linalg.solve(arm.to_model, design.unit), design.inverse @ arm.to_model)
    neighbour = correct_to_feasible(base, beta, limits, scale).witness
    drives = check_feasibility(base, beta, limits, scale)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (positions, 7))
    least = np.linalg.eigvalsh(mass_matrix(arm.model, arm.to_model @ neighbour, q))[:, 0]
    links = check_feasibility(base, beta, limits[:len(arm.model.bodies)], scale)
    return WamAnswers(links, drives, float(np.mean(least < 0.0)))


def table() -> list[str]:
    """Markdown rows."""
    robot = three_links()
    forms = {form: [BODY_FORMS[form](30, where, STRICT) for where in robot.bodies]
             for form in ("spatial", "pseudo")}
    tests = {(form, name): check_feasibility(robot.base, beta, forms[form], robot.scale)
             for form in forms for name, beta in (("first", FEASIBLE), ("second", INFEASIBLE))}
    corrected = correct_to_feasible(robot.base, INFEASIBLE, forms["spatial"], robot.scale)
    arm = wam()
    answers = wam_answers()
    lines = ["| | published | here |", "|---|---|---|"]
    lines += [f"| Table 1, {name} vector, 6x6 | {'feasible' if name == 'first' else 'infeasible'} "
              f"| {_verdict(tests['spatial', name])} |" for name in ("first", "second")]
    lines += [f"| Table 1, {name} vector, 4x4 (full consistency) | - | "
              f"{_verdict(tests['pseudo', name])} |" for name in ("first", "second")]
    off = np.abs(corrected.beta - CORRECTED).max()
    lines += [f"| distance to the corrected vector | {DISTANCE:.2e} | {corrected.distance:.4e} |",
              f"| corrected vector, largest difference | - | {off:.1e} |",
              f"| WAM: base parameters of {len(arm.base.names)} | 69 | {arm.base.count} |",
              f"| WAM, least squares of Table 6, links and drives | infeasible | "
              f"{_verdict(answers.drives)} |",
              f"| the same, links alone | - | {_verdict(answers.links)} |",
              "| nearest feasible vector: positions with an indefinite mass matrix | none | "
              f"{100 * answers.indefinite:.0f} % |"]
    return lines


def _verdict(answer: Feasibility) -> str:
    proof = answer.certificate
    if proof is None:
        return f"feasible, margin {answer.margin:.2g}"
    return f"infeasible, certificate {proof.value:.2g} (leak {proof.leak:.0e})"
