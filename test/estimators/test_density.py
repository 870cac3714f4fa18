# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The density estimator against brute-force optima, closed forms and least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from estimator_cases import create
from problems import Data, box, compress, make_rows, motion
from scipy.optimize import approx_fprime, minimize

from inertial_id_ros.estimators import density
from inertial_id_ros.estimators.density import (
    UNKNOWN_WIDTH,
    find_mode,
    find_modes,
)
from inertial_id_ros.geometry.density_prior import MASS_SD, DensityPrior, balls, density_prior
from inertial_id_ros.geometry.shape import Shape, shape_from_mesh, shape_from_primitive
from inertial_id_ros.inertia import (
    is_consistent,
    phi_from_points,
    report_from_phi,
)
from inertial_id_ros.settings import Settings

BOX = box()


def _mesh() -> Shape:
    """A filled cone, tilted."""
    pose = trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 0.5])
    pose[:3, 3] = [0.01, 0.02, 0.12]
    return shape_from_mesh(trimesh.creation.cone(radius=0.06, height=0.2, sections=48), pose)


SHAPES = {"box": BOX, "mesh": _mesh(),
          "cylinder": shape_from_primitive("cylinder", (0.03, 0.25), np.eye(4))}
PRIORS = {name: density_prior(shape) for name, shape in SHAPES.items()}


def posterior(information: np.ndarray, vector: np.ndarray,
              prior: DensityPrior) -> tuple[np.ndarray, np.ndarray]:
    """The posterior where the shape is as told but for its density."""
    return density.posterior(information, vector, prior, np.zeros((10, 10)))


def _inside(rng: np.random.Generator, count: int = 6, shape: Shape = BOX) -> np.ndarray:
    where = shape.points[rng.choice(len(shape.points), count)]
    return phi_from_points(where, rng.uniform(0.2, 2.0, count) / count)


def _data(seed: int, samples: int = 200, speed: float = 1.0,
          phi: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, Data]:
    """Information matrix and vector of noisy data of a body in the box, and the problem."""
    rng = np.random.default_rng(seed)
    phi = _inside(rng) if phi is None else phi
    problem = compress(make_rows(rng, phi, motion(rng, samples, 3.0, speed)))
    marginal = problem.problems["noise"]
    return marginal.information, marginal.matrix.T @ marginal.target, problem


class _BruteForce:
    """The negative log posterior of log-densities written out, and its optimum.

    The unknowns are w (modes and mass), and z with ``slack error = root @ z`` if there is slack.
    """

    def __init__(self, information: np.ndarray, vector: np.ndarray, prior: DensityPrior,
                 width: float, mass: float, slack: bool) -> None:
        self._information, self._vector, self._prior = information, vector, prior
        self._volumes = mass * prior.volumes
        self._modes = np.column_stack([width * prior.modes,
                                       np.full(len(prior.volumes), MASS_SD)])
        values, vectors = np.linalg.eigh(prior.slack)
        keep = (values > 1e-12 * values.max()) & slack
        self._root = mass * vectors[:, keep] * np.sqrt(values[keep])
        self._size = self._modes.shape[1]
        self.x = minimize(self.objective, np.zeros(self._size + keep.sum()), jac=self.gradient,
                          hess=self.hessian, method="trust-exact",
                          options={"gtol": 1e-6, "maxiter": 1500}).x
        self.phi = self.body(self.x)

    def _masses(self, x: np.ndarray) -> np.ndarray:
        return self._volumes * np.exp(self._modes @ x[:self._size])

    def body(self, x: np.ndarray) -> np.ndarray:
        return self._prior.columns @ self._masses(x) + self._root @ x[self._size:]

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        return np.hstack([(self._prior.columns * self._masses(x)) @ self._modes, self._root])

    def objective(self, x: np.ndarray) -> float:
        phi = self.body(x)
        return float(0.5 * phi @ self._information @ phi - self._vector @ phi + 0.5 * x @ x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self.jacobian(x).T @ (self._information @ self.body(x) - self._vector) + x

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """The Hessian but for the second derivative of the body."""
        jacobian = self.jacobian(x)
        return np.eye(len(x)) + jacobian.T @ self._information @ jacobian

    def hessian(self, x: np.ndarray) -> np.ndarray:
        out = self.curvature(x)
        pull = (self._information @ self.body(x) - self._vector) @ self._prior.columns
        out[:self._size, :self._size] += (self._modes.T * (pull * self._masses(x))) @ self._modes
        return out

    def covariance(self) -> np.ndarray:
        """Of phi, from the numerical Jacobian of phi in the unknowns at the optimum."""
        numeric = approx_fprime(self.x, self.body, 1e-7)
        hessian = np.eye(len(self.x)) + numeric.T @ self._information @ numeric
        return numeric @ np.linalg.solve(hessian, numeric.T)


def _distance(a: np.ndarray, b: np.ndarray, covariance: np.ndarray) -> float:
    """Largest difference of two phi in standard deviations of any parameter."""
    return float(np.max(np.abs(a - b) / np.sqrt(np.diag(covariance))))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "width"), [
    ("ball", UNKNOWN_WIDTH), ("far ball", UNKNOWN_WIDTH), ("box", 3.0), ("box", 0.3),
    *((name, PRIORS[name].widths[0]) for name in SHAPES)])
@pytest.mark.parametrize("seed", range(3))
def test_the_mode_is_the_optimum_of_an_independent_search(name: str, width: float, seed: int
                                                          ) -> None:
    """Wide densities and rich data make narrow, curved valleys."""
    prior = {"ball": balls(0.4)[0][1], "far ball": balls(1.0)[0][1], **PRIORS}[name]
    phi = _inside(np.random.default_rng(seed), 6, SHAPES.get(name, BOX))
    information, vector, _ = _data(seed + 10, samples=(60, 400, 2000)[seed], phi=phi)
    mass = vector[0] / information[0, 0]
    brute = _BruteForce(information, vector, prior, width, mass, slack=False)
    mode = find_mode(information, vector, prior, width, mass)
    assert _distance(mode.phi, brute.phi, mode.covariance) < 1e-2
    determinant = np.linalg.slogdet(brute.curvature(brute.x))[1]
    assert mode.evidence == pytest.approx(-brute.objective(brute.x) - 0.5 * determinant, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["box", "mesh", "cylinder"])
@pytest.mark.parametrize("seed", range(3))
def test_with_slack_the_posterior_is_the_joint_optimum_and_its_covariance(
        shape: str, seed: int) -> None:
    phi = _inside(np.random.default_rng(seed), 20, SHAPES[shape])
    information, vector, _ = _data(seed, phi=phi)
    mass = vector[0] / information[0, 0]
    prior = PRIORS[shape]
    brute = _BruteForce(information, vector, prior, 1.0, mass, slack=True)
    found = find_modes(information, vector, replace(prior, widths=(1.0,)))[0]
    assert is_consistent(brute.phi)
    assert _distance(found.phi, brute.phi, found.covariance) < 1e-2
    sd = np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(found.covariance / np.outer(sd, sd),
                               brute.covariance() / np.outer(sd, sd), atol=0.02)


@pytest.mark.parametrize("shape", ["box", "mesh", "cylinder"])
def test_node_volumes_have_the_moments_of_the_even_body(shape: str) -> None:
    prior = PRIORS[shape]
    known = SHAPES[shape]
    assert (prior.volumes > 0.0).all() and prior.volumes.sum() == pytest.approx(1.0)
    scale = np.abs(prior.columns).max(axis=1)
    np.testing.assert_allclose(prior.columns @ prior.volumes / scale, known.unit_phi / scale,
                               atol=1e-6)


@pytest.mark.parametrize(("radius", "length"), [(0.004, 0.25), (0.01, 0.3), (0.02, 0.2)])
def test_intervals_leave_the_depth_of_mass_in_a_thin_rod_open(radius: float,
                                                              length: float) -> None:
    """Mass, centre and long moments measured exactly: the moment about the rod stays as uncertain
    as if its mass sat at one depth r, with r^2 even from 0 to the square of the radius."""
    shape = shape_from_primitive("cylinder", (radius, length), np.eye(4), bounding=False)
    prior = density_prior(shape)
    truth = shape.uniform(0.5)
    scale = np.abs(shape.unit_phi).max() + np.abs(shape.unit_phi)
    # Known: all but the moment about z, that is Ixx + Iyy - Izz and Ixx - Iyy, not Izz.
    rows = np.delete(np.eye(10), [4, 7, 9], axis=0) / np.delete(scale, [4, 7, 9])[:, None]
    rows = np.vstack([rows, [[0, 0, 0, 0, 1, 0, 0, 1, 0, -1], [0, 0, 0, 0, 1, 0, 0, -1, 0, 0]]
                      / shape.unit_phi[4]])
    information = 1e8 * rows.T @ rows
    _, covariance = posterior(information, information @ truth, prior)
    depth = np.random.default_rng(0).uniform(0.0, radius**2, 100_000)
    spread = np.sqrt(covariance[9, 9]) / (0.5 * depth.std())
    assert 0.97 < spread < 1.15, spread


def test_more_data_lead_to_least_squares() -> None:
    phi = BOX.uniform(0.8) + _inside(np.random.default_rng(2), 20) * 0.5
    information, vector, _ = _data(3, samples=600, speed=2.0, phi=phi)
    free = np.linalg.solve(information, vector)
    distance: list[float] = []
    for times in (1.0, 1e2, 1e4, 1e6):
        more = posterior(times * information, times * vector, PRIORS["box"])[0]
        distance.append(float(np.linalg.norm((more - free) / np.sqrt(
            np.diag(np.linalg.inv(information))))))
    assert (np.diff(distance) < 0.0).all() and distance[-1] < 0.01 * distance[0]


def test_without_motion_the_mass_comes_from_the_data_and_the_rest_from_the_shape() -> None:
    information, vector = np.zeros((10, 10)), np.zeros(10)
    information[0, 0], vector[0] = 1e6, 1.3e6
    phi, covariance = posterior(information, vector, PRIORS["box"])
    assert phi[0] == pytest.approx(1.3, rel=0.01)
    report, even = report_from_phi(phi), report_from_phi(BOX.uniform(1.3))
    np.testing.assert_allclose(report[1:4], even[1:4], atol=2e-3)
    np.testing.assert_allclose(report[4:], even[4:], atol=0.15 * even[4:].max())
    assert np.sqrt(covariance[0, 0]) < 0.002


EXACT = Settings().replace({"shape.error": 0.0})


@pytest.mark.parametrize("outside", [0.001, 0.005, 0.01])
def test_a_box_that_does_not_hold_the_centre_of_mass_does_not_decide(outside: float) -> None:
    """A flat body in 40 s of motion, its box raised: called exact, the box wins; else the data."""
    size, rng = (0.28, 0.11, 0.03), np.random.default_rng(3)
    truth = box(size, (0.12, 0.0, 0.03)).uniform(1.0)
    problem = compress(make_rows(rng, truth, motion(rng, 4000, 40.0, 1.0)))
    told = box(size, (0.12, 0.0, 0.045 + outside))
    free = np.sqrt(np.diag(np.linalg.inv(problem.problems["noise"].information)))
    solution = create(Settings(), "density").solve(problem, told)
    assert is_consistent(solution.phi)
    sd = np.sqrt(np.diag(solution.covariance))
    assert (np.abs(solution.phi - truth) < 3.5 * sd).all()
    assert (sd < 1.05 * free).all() and (sd[:4] > 0.8 * free[:4]).all()
    decided = create(EXACT, "density").solve(problem, told)
    assert np.abs((decided.phi - truth) / free)[:4].max() > 20.0


@pytest.mark.parametrize("seed", range(4))
def test_a_right_shape_is_not_doubted_to_its_cost(seed: int) -> None:
    """Little data: the estimate is nearly that of a shape called exact."""
    rng = np.random.default_rng(seed)
    problem = compress(make_rows(rng, BOX.uniform(1.4), motion(rng, 100, 1.0, 1.0)))
    usual, exact = (create(settings, "density").solve(problem, BOX)
                    for settings in (Settings(), EXACT))
    sd = np.sqrt(np.diag(exact.covariance))
    assert (np.abs(usual.phi - exact.phi) < 0.1 * sd).all()
    wide = np.sqrt(np.diag(usual.covariance))
    assert (wide > 0.98 * sd).all() and wide.mean() > sd.mean()
