# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Fits reach the optimum that cvxpy finds on all rows, and a description is trusted as far as the
data do not contradict it, body by body. Robots of mass points: base-link rows, boxes, and a prior
that leaves the data alone. Constraints on bodies hold exactly for the bodies they describe;
feasibility of base parameters: published answers, certificates, and cvxpy's opinion."""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pinocchio as pin
import published_robots as paper
import pytest
from robots import random_tree, unfiltered
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import (
    is_consistent,
    phi_from_body,
    phi_from_pseudo_inertia,
    point_columns,
)
from inertial_id_ros.robot import TERMS, convex
from inertial_id_ros.robot.base_parameters import (
    BaseParameters,
    find_base_parameters,
    fit_base_parameters,
    fit_feasible,
    structural_base_parameters,
)
from inertial_id_ros.robot.convex import STABILITY, box_reference, consistent, depth, robot_limits
from inertial_id_ros.robot.fit import RobotFit, covariance_and_share, fit_robot, identify
from inertial_id_ros.robot.least_squares import Reference, description_reference, make_reference
from inertial_id_ros.robot.model import BASE_SIZE, BODY_TERMS, NO_TERMS, JointTerms, RobotModel
from inertial_id_ros.robot.recording import Rows

NOISE = 0.5


class Case(NamedTuple):
    """A robot and a noisy recording, whitened rows and targets of all samples."""

    model: RobotModel
    base: BaseParameters
    data: Rows
    rows: np.ndarray
    target: np.ndarray
    design: Reference


def case(rng: np.random.Generator, joints: int = 4, samples: int = 60, drives: bool = True
         ) -> Case:
    """So little and so noisy data that the constraints bind."""
    terms = JointTerms(TERMS[:4] if drives else TERMS[:3])
    model = RobotModel.from_urdf(random_tree(rng, joints), terms)
    truth = model.nominal
    for term, value in zip(model.terms.names, (0.3, 0.2, 0.1, 0.02), strict=False):
        truth[model.term_indices(term)] = value
    q, dq, ddq = rng.normal(size=(3, samples, joints))
    torque = model.regressor(q, dq, ddq) @ truth + NOISE * rng.normal(size=(samples, joints))
    rows = model.regressor(q, dq, ddq).reshape(-1, model.size) / NOISE
    return Case(model, structural_base_parameters(model), unfiltered(model, q, dq, ddq, torque),
                rows, torque.ravel() / NOISE, description_reference(model))


def squares(c: Case, phi: np.ndarray) -> float:
    """Sum of squared residuals over the noise."""
    return float(np.sum((c.rows @ phi - c.target)**2))


def light_robot(c: Case, form: str) -> convex.Limits:
    """Consistent bodies that weigh at most 15 kg together."""
    return robot_limits(c.model.parameter_names, c.design,
                        {"form": form, "masses": [{"max": 15.0}]})


def optimum(c: Case, rows: np.ndarray, target: np.ndarray, form: str) -> float:
    """The same, stated plainly on all rows: the least sum of squares."""
    u = cp.Variable(c.model.size)  # scaled: in SI units solvers stop early
    phi, side = c.design.unit @ u, {"pseudo": 4, "spatial": 6}[form]
    slices = [c.model.body_slice(k) for k in range(4)]
    matrices = [cp.reshape(convex.FORMS[form] @ phi[where], (side, side), order="C")
                for where in slices]
    signed = [k for term in c.model.terms.names if term != "offset"
              for k in c.model.term_indices(term)]
    problem = cp.Problem(cp.Minimize(cp.sum_squares((rows @ c.design.unit) @ u - target)), [
        *(matrix >> 0 for matrix in matrices), phi[signed] >= 0,
        sum(phi[where.start] for where in slices) <= 15.0])
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # good to 1e-7
@pytest.mark.parametrize("form", ["pseudo", "spatial"])
def test_feasible_base_parameters_are_the_constrained_optimum(
        rng: np.random.Generator, form: str) -> None:
    c = case(rng)
    phi = fit_feasible(c.data, c.base, light_robot(c, form), c.design)
    best = optimum(c, c.rows, c.target, form)
    phi_free = np.zeros(c.model.size)
    phi_free[c.base.independent] = fit_base_parameters(c.data, c.base)
    assert squares(c, phi_free) < 0.99 * best
    assert squares(c, phi) == pytest.approx(best, rel=1e-6)


def test_a_prior_everywhere_is_the_regularised_optimum(rng: np.random.Generator) -> None:
    c = case(rng, drives=False)
    prior = c.design.scaled(10.0)
    found = identify(*c.data.factor(NOISE), light_robot(c, "pseudo"), prior)
    rows = np.concatenate([c.rows, 0.1 * c.design.inverse])
    target = np.append(c.target, 0.1 * c.design.inverse @ c.design.phi)
    best = optimum(c, rows, target, "pseudo")
    assert float(np.sum((rows @ found - target)**2)) == pytest.approx(best, rel=1e-6)
    assert all(is_consistent(part) for part in np.split(found[:40], 4))


def test_what_torques_cannot_tell_is_the_prior_and_said_to_be(rng: np.random.Generator) -> None:
    c = case(rng, samples=400)
    first = c.model.body_slice(c.model.bodies.index("link1"))
    expected = c.design.phi.copy()
    expected[first] = phi_from_body(2.0, np.zeros(3), 0.02 * np.eye(3))
    prior = make_reference(expected, 4)
    phi = identify(*c.data.factor(NOISE), lambda _: [], prior)
    covariance, share = covariance_and_share(c.data.factor(NOISE)[0], prior)
    # The mass of the first link moves no joint; in a ball about the joint nothing else tells it.
    assert share[first][0] == pytest.approx(0.0, abs=1e-9)
    assert phi[first][0] == pytest.approx(2.0)
    assert np.sqrt(covariance[first.start, first.start]) == pytest.approx(2.0)
    assert share[first][1:4].min() > 0.1
    assert share[c.model.term_indices("viscous")[1]] > 0.9
    assert np.all((share >= 0.0) & (share <= 1.0))


def test_standard_deviations_cover_the_truth(rng: np.random.Generator) -> None:
    """The truth is drawn from the prior, which is what its standard deviations are about."""
    inside = []
    for _ in range(25):
        model = RobotModel.from_urdf(random_tree(rng, 3))
        ref = description_reference(model)
        truth = ref.phi + 0.1 * ref.unit @ rng.normal(size=model.size)
        q, dq, ddq = rng.normal(size=(3, 100, 3))
        torque = model.regressor(q, dq, ddq) @ truth + NOISE * rng.normal(size=(100, 3))
        data = unfiltered(model, q, dq, ddq, torque).factor(NOISE)
        prior = ref.scaled(0.1)
        sigma = np.sqrt(np.diag(covariance_and_share(data[0], prior)[0]))
        inside.append(np.abs(identify(*data, lambda _: [], prior) - truth) < 1.96 * sigma)
    assert 0.92 < np.mean(inside) < 0.98


# Bodies other than described


LOAD = phi_from_body(30.0, np.array([0.1, -0.2, 0.15]), 0.2 * np.eye(3))


def fitted(rng: np.random.Generator, body: int | None = None, drive: float = 0.0,
           terms: JointTerms | None = None) -> RobotFit:
    """The fit of a robot, one body of which carries what is not described."""
    model = RobotModel.from_urdf(random_tree(rng, 4, branch=0.0), terms)
    truth = model.nominal
    if body is not None:
        truth[model.body_slice(body)] += LOAD
    q, dq, ddq = rng.normal(size=(3, 400, 4))
    torque = (model.regressor(q, dq, ddq) @ truth + 0.3 * dq + 0.2 * np.sign(dq) + drive * ddq
              + NOISE * rng.normal(size=(400, 4)))
    return fit_robot(unfiltered(model, q, dq, ddq, torque), structural_base_parameters(model))


@pytest.mark.parametrize("body", [1, 2, 3])
def test_the_body_with_an_undescribed_load_is_named(rng: np.random.Generator, body: int) -> None:
    """And only that one; the sum of squares stays that of the best feasible robot, but for what
    noise explains."""
    found = fitted(rng, body)
    assert np.flatnonzero(found.contradicted).tolist() == [body]
    design, rows = description_reference(found.model), found.free.rows
    limits = robot_limits(found.model.parameter_names, design)
    best = fit_feasible(rows, found.base, limits, design)
    squares = [float(np.sum((rows.residual(phi) / found.free.noise)**2))
               for phi in (found.phi, best)]
    assert 0.0 < squares[0] - squares[1] < 0.6 * len(found.base.matrix)
    where = found.model.body_slice(3)
    if body == 3:
        assert found.phi[where][0] == pytest.approx(
            30.0 + found.model.nominal[where][0], rel=.2)


def test_bodies_as_described_are_not_said_to_differ(rng: np.random.Generator) -> None:
    found = [fitted(rng) for _ in range(10)]
    assert not any(each.contradicted.any() for each in found)
    assert all(each.eased == 1.0 for each in found)


def test_a_model_that_lacks_drive_inertia_trusts_the_description_less(
        rng: np.random.Generator) -> None:
    """Links would have to carry it: so that it costs little, the pull is eased."""
    assert fitted(rng, drive=2.0, terms=JointTerms()).eased < 1.0
    assert fitted(rng, drive=2.0, terms=JointTerms(TERMS[:4])).eased == 1.0


# Mass points

BOX = np.array([[-0.1, -0.2, 0.0], [0.3, 0.2, 0.4]])
FREE = pin.JointModelFreeFlyer()
BODY = phi_from_body(2.0, np.array([0.1, 0.0, 0.2]), np.diag([0.03, 0.03, 0.04]))


def test_base_rows_of_a_free_robot_tell_all_that_all_rows_tell(rng: np.random.Generator) -> None:
    """Ayusawa, Venture, Nakamura 2009: base-link dynamics lose no inertial parameter."""
    model = RobotModel(pin.buildModelFromXML(random_tree(rng, 5, rooted=True), FREE), NO_TERMS)
    q, dq, ddq = rng.normal(size=(3, 60, model.nv))
    rows = model.regressor(q, dq, ddq)[:, :BASE_SIZE]
    part = find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)
    whole = structural_base_parameters(model)
    assert len(part.matrix) == len(whole.matrix) < model.size
    both = np.concatenate([part.matrix, whole.matrix])  # the same subspace of combinations
    assert np.linalg.matrix_rank(both, rtol=1e-8) == len(part.matrix)


def test_standard_deviations_of_a_box_are_the_bounds_of_the_paper() -> None:
    """Eqs 17-22 about the middle of the box, half lengths 0.2 m, the mass known to half of it."""
    about = make_reference(BODY, 1)
    spread = box_reference([BOX], about).inverse @ np.eye(10)[:, 0]
    assert spread[0] == pytest.approx(1.0 / 1.0)  # of 2 kg, known to 1 kg
    centred = np.array([[-0.2] * 3, [0.2] * 3])
    body = phi_from_body(2.0, np.zeros(3), np.diag([0.03, 0.03, 0.04]))
    np.testing.assert_allclose(
        np.diag(box_reference([centred], make_reference(body, 1)).unit),
        [1.0, *[3.0 * 0.2] * 3, 0.24 - 0.03, 0.12, 0.12, 0.24 - 0.03, 0.12, 0.24 - 0.04])


def test_one_body_is_the_optimum_of_bounded_least_squares(rng: np.random.Generator) -> None:
    """Against scipy's active sets, on data that ask for mass outside the box."""
    scale = box_reference([BOX], make_reference(BODY, 1))
    truth = phi_from_body(2.0, np.array([0.45, 0.0, 0.2]), np.diag([0.03, 0.03, 0.04]))
    rows = rng.normal(size=(40, 10)) @ np.linalg.inv(scale.unit) * 30.0
    target = rows @ truth + rng.normal(size=40)
    limits = robot_limits([f"{term}(a)" for term in BODY_TERMS], make_reference(BODY, 1))
    found = convex.fit_mass_points(rows, target, limits, [BOX], scale)
    points = np.stack(np.meshgrid(*np.linspace(*BOX, 3).T), axis=-1).reshape(-1, 3)
    columns, size = point_columns(points), 2.0 / len(points)
    prior, wanted = convex.null_space_prior(rows, scale)
    assert len(points) == 27 and len(prior) == 0  # the data know everything
    expected = np.linalg.pinv(columns * size) @ scale.phi
    best = lsq_linear(np.concatenate([rows @ columns * size, np.sqrt(STABILITY) * np.eye(27)]),
                      np.concatenate([target, np.sqrt(STABILITY) * expected]), (0.0, np.inf),
                      tol=1e-14)
    np.testing.assert_allclose(found, columns @ (size * best.x), atol=1e-4)
    assert is_consistent(found)
    com = found[1:4] / found[0]
    assert np.all(com >= BOX[0]) and np.all(com <= BOX[1])


def test_the_prior_acts_in_the_null_space_alone(rng: np.random.Generator) -> None:
    """Eq. 32: base parameters are those of least squares, and all else is the prior's; with mass
    points, as near to it as they can."""
    model = RobotModel.from_urdf(random_tree(rng, 3))
    q, dq, ddq = rng.normal(size=(3, 500, 3))
    torque = model.regressor(q, dq, ddq) @ model.nominal + dq + np.sign(dq) \
        + 0.1 * rng.normal(size=(500, 3))
    data, base = unfiltered(model, q, dq, ddq, torque), structural_base_parameters(model)
    design = model.nominal
    design[:30] *= np.repeat([1.3, 0.8, 1.1], 10)
    slices = [model.body_slice(k) for k in range(3)]
    boxes = [convex.uniform_box(model.nominal[where]) for where in slices]
    scale = box_reference(boxes, make_reference(design, 3).scaled(10.0))
    rows, target = data.factor(0.1)
    prior, wanted = convex.null_space_prior(rows, scale)
    np.testing.assert_allclose(prior @ scale.unit @ np.linalg.pinv(base.matrix @ scale.unit), 0.0,
                               atol=1e-6)  # nothing of it on base parameters
    assert len(prior) == model.size - len(base.matrix)
    free = fit_base_parameters(data, base)
    plain = convex.nearest_robot(np.concatenate([rows, prior]), np.append(target, wanted),
                                 lambda _: [], scale)
    np.testing.assert_allclose(base.matrix @ plain, free, atol=1e-7)
    np.testing.assert_allclose(prior @ (plain - scale.phi), 0.0, atol=1e-7)
    found = convex.fit_mass_points(rows, target, lambda _: [], boxes, scale)
    own = rows[:, base.independent]
    sigma = np.sqrt(np.diag(np.linalg.inv(own.T @ own)))
    assert np.all(np.abs(base.matrix @ found - free) < 0.1 * sigma + 1e-6)


@pytest.mark.slow
def test_a_tree_of_30_joints_from_the_rows_of_its_floating_base_alone() -> None:
    """As Section V: in the air, with a design whose masses are 30 % wrong, all links can exist, lie
    in their boxes, and cost hardly any force residual (up to 40 % in the paper)."""
    rng, noise = np.random.default_rng(0), np.array([5.0, 5.0, 5.0, 2.0, 2.0, 1.0])  # N, N m
    model = RobotModel(pin.buildModelFromXML(random_tree(rng, 30, rooted=True), FREE), NO_TERMS)
    q, dq, ddq = rng.normal(size=(3, 600, model.nv))
    columns = model.regressor(q, 0.7 * dq, 2.0 * ddq)[:, :BASE_SIZE]
    force = columns @ model.nominal + noise * rng.normal(size=(600, 6))
    rows, target = Rows(model, np.arange(600), columns, force).factor(noise)
    design = make_reference(model.nominal * np.repeat(np.exp(0.3 * rng.normal(size=31)), 10), 31)
    slices = [model.body_slice(k) for k in range(31)]
    boxes = [convex.uniform_box(model.nominal[where]) for where in slices]
    phi = convex.fit_mass_points(rows, target, robot_limits(model.parameter_names, design), boxes,
                                 box_reference(boxes, design))
    assert all(is_consistent(phi[where]) for where in slices)
    misfits = [np.linalg.norm(rows @ p - target) for p in (
        phi, np.linalg.lstsq(rows, target, rcond=1e-9)[0])]
    assert misfits[0] < 1.01 * misfits[1]


# Constraints

CENTER, HALF = np.array([0.1, -0.05, 0.2]), np.array([0.3, 0.2, 0.1])
BALL = make_reference(phi_from_body(1.0, CENTER, 0.01 * np.eye(3)), 1)
EGG = {"center": CENTER, "half_axes": HALF}


def allows(*expressions: cp.Expression) -> bool:
    """Whether the numbers of expressions without variables are in their cones."""
    return all(depth(np.asarray(each.value)) >= -1e-12 for each in expressions)


def known(phi: Any, like: np.ndarray = BALL.phi, **bounds: Any) -> list[cp.Expression]:
    """The limits of what is known of a link."""
    return convex.link_limits(phi, "a", bounds, like)


def bodies(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random parameter vectors, about half of which exist."""
    return [phi_from_body(rng.uniform(0.5, 2.0), rng.normal(size=3),
                          np.diag(rng.uniform(0.0, 1.0, 3))) for _ in range(count)]


def test_pseudo_inertia_asks_for_all_of_consistency_and_spatial_inertia_for_less(
        rng: np.random.Generator) -> None:
    verdicts = [(is_consistent(phi), *(allows(consistent(cp.Constant(phi), BALL.phi, form, 0.0))
                                       for form in ("pseudo", "spatial")))
                for phi in bodies(rng, 60)]
    assert all(want == got for want, got, _ in verdicts)
    assert all(semi for _, _, semi in verdicts)  # all tensors about the centre are positive
    assert 10 < sum(want for want, _, _ in verdicts) < 50
    negative = phi_from_body(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1]))
    assert not allows(consistent(cp.Constant(negative), BALL.phi, "spatial", 0.0))


def test_centres_of_mass_stay_in_boxes_and_ellipsoids(rng: np.random.Generator) -> None:
    for _ in range(200):
        com = CENTER + rng.uniform(-1.5, 1.5, 3) * HALF
        phi = cp.Constant(phi_from_body(rng.uniform(0.1, 9.0), com, np.eye(3)))
        off = (com - CENTER) / HALF
        inside = allows(*known(phi, box=[CENTER - HALF, CENTER + HALF]))
        assert inside == (np.abs(off).max() <= 1.0)
        assert allows(*known(phi, com_ellipsoid=EGG)) == (off @ off <= 1.0)


def test_a_density_in_an_ellipsoid_is_one_of_points_in_it(rng: np.random.Generator) -> None:
    """Points in the ellipsoid pass; with a point so far out that no other density could make up for
    it, they do not."""
    for _ in range(20):
        directions = rng.normal(size=(6, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = CENTER + HALF * directions
        phi = point_columns(points) @ rng.uniform(0.1, 1.0, 6)
        _, border = known(cp.Constant(phi), ellipsoids=[EGG])
        assert abs(border.value) < 1e-9  # all on the border
        assert not allows(*known(cp.Constant(phi + point_columns(CENTER + 1.1 * HALF)[:, 0]),
                                 ellipsoids=[EGG]))
    # The centre of mass of this one is inside all the same: eq. 22 is weaker than eq. 23.
    wide = cp.Constant(phi_from_body(1.0, CENTER, np.eye(3)))
    assert allows(*known(wide, com_ellipsoid=EGG)) and not allows(*known(wide, ellipsoids=[EGG]))
    uniform = phi_from_pseudo_inertia(np.diag(np.r_[HALF**2 / 5.0, 0.0])) + point_columns(
        CENTER)[:, 0]
    _, border = known(cp.Constant(uniform), ellipsoids=[EGG])
    assert border.value == pytest.approx(0.4)  # 1 - 3/5


def test_a_union_of_ellipsoids_has_the_optimum_of_points_that_fill_it(
        rng: np.random.Generator) -> None:
    """The objective falls towards no point of the union (first-order optimality)."""
    rpy, half = rng.uniform(-np.pi, np.pi, 3), np.sqrt([0.04, 0.01, 0.02])
    turned, other = Rotation.from_euler("xyz", rpy).as_matrix(), CENTER + [0.35, 0.1, 0.0]
    two = [EGG, {"center": other, "half_axes": half, "rpy": rpy}]
    # Points all over the borders, as extreme densities lie there, and within.
    ball = rng.normal(size=(4000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    columns = point_columns(np.concatenate([
        center + part * (ball * axes) @ turn.T for center, axes, turn in (
            (CENTER, HALF, np.eye(3)), (other, half, turned)) for part in (1.0, 0.5)]))
    # Half a kilogram beyond the far end of either.
    ends = np.array([CENTER - [0.35, 0.0, 0.0], other + 0.25 * turned[:, 0]])
    for _ in range(3):
        wanted = 0.5 * point_columns(ends).sum(axis=1) + 0.1 * BALL.unit @ rng.normal(size=10)
        found, alone = (convex.nearest_robot(
            BALL.inverse, BALL.inverse @ wanted,
            lambda phi, these=these: known(phi[0:10], ellipsoids=these), BALL)
            for these in (two, two[:1]))
        excess, more = (np.sum((BALL.inverse @ (phi - wanted))**2) for phi in (found, alone))
        assert 0.01 < excess < more / 1.5  # it binds
        slope = 2.0 * BALL.inverse.T @ BALL.inverse @ (found - wanted)
        fall = slope @ columns * found[0]
        assert -1e-5 * np.abs(fall).max() < fall.min() < 0.05 * np.abs(fall).max()
        assert abs(slope @ found) < 1e-5 * np.abs(fall).max()


def test_a_body_near_its_design_is_as_far_from_it_as_allowed() -> None:
    off = BALL.phi + BALL.unit @ np.eye(10)[4] * 0.3
    assert allows(*known(cp.Constant(off), near_design=0.31))
    assert not allows(*known(cp.Constant(off), near_design=0.29))
    near = convex.nearest_robot(BALL.inverse, BALL.inverse @ off,
                                lambda phi: known(phi[0:10], near_design=0.1), BALL)
    assert np.linalg.norm(BALL.inverse @ (near - off)) == pytest.approx(0.2, rel=1e-5)


ROBOT = paper.three_links()
SPATIAL = paper.strict(ROBOT)


def test_the_second_vector_of_table_1_is_infeasible_with_a_proof_and_the_first_feasible(
        rng: np.random.Generator) -> None:
    (inside, witness, none, _), (outside, _, certificate, z) = (
        convex.check_feasibility(ROBOT.base.matrix, beta, SPATIAL, ROBOT.scale)
        for beta in (paper.FEASIBLE, paper.INFEASIBLE))
    assert outside < 0.0 <= inside and none is None
    np.testing.assert_allclose(ROBOT.base.matrix @ witness, paper.FEASIBLE, atol=1e-9)
    assert all(depth(each.value) > 0.0 for each in SPATIAL(cp.Constant(witness)))
    # The multipliers are positive semidefinite, and with them the weighted sum of the constraints
    # is the same negative number whatever the null-space values are: no robot satisfies all.
    assert all(depth(each) > -1e-9 for each in z)
    assert certificate < -1e-4
    base = ROBOT.base

    def total(phi: np.ndarray) -> float:
        return sum(float(np.sum(each * limit.value)) for each, limit in zip(
            z, SPATIAL(cp.Constant(phi)), strict=True))

    for _ in range(10):
        phi = rng.normal(size=30)
        phi[base.independent] += paper.INFEASIBLE - base.matrix @ phi
        assert total(phi) == pytest.approx(certificate, rel=1e-3)
    assert total(ROBOT.scale.phi) > 0.0  # as for every robot that exists


def test_the_wam_on_its_published_trajectory() -> None:
    """FBPE-OLS from the commanded motion of Table 5 and the torques of the published least squares:
    the recorded motion is not published, so that the answers are near each other, not equal."""
    arm = paper.wam()
    scale, data = paper.wam_scale(arm), paper.wam_motion(arm, 0.05)
    found = [fit_feasible(data, arm.base, paper.wam_limits(arm, constrained), scale)
             for constrained in (False, True)]
    free, tight = (arm.base.matrix @ phi for phi in found)
    columns = data.factor()[0][:, arm.base.independent]
    assert np.linalg.cond(columns) == pytest.approx(99.0, abs=2.0)  # Section 5.2.2
    limits = paper.wam_limits(arm, True)
    assert convex.check_feasibility(arm.base.matrix, free, limits, scale)[0] < 0.0
    assert np.linalg.norm(data.residual(found[0])) < np.linalg.norm(data.residual(found[1]))
    away = np.linalg.norm(tight - paper.WAM_CONSTRAINED)
    assert away < 0.01 * np.linalg.norm(paper.WAM_CONSTRAINED)
    assert away < 0.5 * np.linalg.norm(paper.WAM_OLS - paper.WAM_CONSTRAINED)
