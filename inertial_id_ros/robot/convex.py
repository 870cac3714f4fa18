# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots within convex limits: the limits, and how a user writes them in YAML (`docs/robot.md`);
the robot nearest to data; and robots of mass points.

Limits are affine cvxpy expressions: a square matrix must be positive semidefinite, a vector not
negative. The equations are those of Sousa and Cortesao 2014 ("004") and of Wensing, Kim, Slotine
2017 ("003").

``min |rows phi - target|  s.t.  limits(phi)``, the norm not squared, so that its size does not
matter. In singular coordinates of the data, scaled by a reference robot, well-known directions are
in units of their standard deviation, and directions that the data leave open stay of size 1.

Mass points in the boxes of links (Ayusawa and Nakamura 2010, eq. 29): ``min |F P rho - t|^2
+ |N (P rho - phi_ref)|^2 + lambda |rho - rho_ref|^2, rho >= 0``. The prior acts only on the null
space of the data (Z^num, Section IV-C), in units of the standard deviations that the boxes allow;
its weight is the inverse of these variances (the text of eq. 28 names the variances themselves).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import block_diag, null_space
from scipy.spatial.transform import Rotation

from ..errors import DamagedFile, InvalidData, InvalidSetting
from ..extras import optional_packages
from ..inertia import Array, point_columns, pseudo_inertia, skew, tensor_from_six, transform_matrix
from ..io.fields import numbers
from ..model.problem import triangle
from .least_squares import Reference, make_reference
from .model import BODY_SIZE, BODY_TERMS, NOT_NEGATIVE, body_slices

with optional_packages("identifying a robot"):
    import cvxpy as cp

    from ..estimators import convex_program

Limits = Callable[[cp.Expression], list[cp.Expression]]  # of the parameters (p,) of a robot

# Margin of consistency, relative to a reference body: above the solver's tolerance, below any data.
MARGIN = 1e-6
_UNITS = np.eye(BODY_SIZE)
# The problems are scaled already. Coordinates that the data leave open have no Hessian, and under
# the usual regularisation the steps along them stall before the end.
_OPTIONS = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_threads": 1,
            "presolve_enable": False, "chordal_decomposition_enable": False,
            "equilibrate_enable": False, "static_regularization_constant": 1e-10}
POINTS_PER_EDGE = 3
MASS_ERROR = 0.5  # of the expected mass of a link, relative
STABILITY = 1e-3  # lambda, for point masses in units of their mean


# Columns (side^2, 10) of matrices that are positive definite for a body: "pseudo" (4, 4) is full
# physical consistency (003 Theorem 3), "spatial" (6, 6) positive kinetic energy (004 eq. 18), which
# leaves the triangle inequalities of the principal moments open: ``[[I, S(h)], [S(h)', m 1]]``.
FORMS = {name: matrices.reshape(BODY_SIZE, -1).T for name, matrices in (
    ("pseudo", pseudo_inertia(_UNITS)), ("spatial", np.block([
        [tensor_from_six(_UNITS[:, 4:]), skew(_UNITS[:, 1:4])],
        [-skew(_UNITS[:, 1:4]), _UNITS[:, :1, None] * np.eye(3)]])))}


def consistent(body: cp.Expression, like: Array, form: str = "pseudo", margin: float = MARGIN
               ) -> cp.Expression:
    """``M(body) - margin M(like)`` for M of `FORMS`, seen from a body `like` it (10,), where
    ``M(like)`` is the unit matrix: the margin means the same for thick and thin bodies."""
    columns = FORMS[form]
    side = int(np.sqrt(len(columns)))
    root = np.linalg.inv(np.linalg.cholesky((columns @ like).reshape(side, side)))
    seen = cp.reshape(np.kron(root, root) @ columns @ body, (side, side), order="C")
    return seen - margin * np.eye(side)


def mass_between(masses: cp.Expression, lower: float, upper: float, what: str) -> cp.Expression:
    """``lower <= sum of masses (k,) <= upper`` [kg] (004 eq. 25; raises InvalidSetting: no mass is
    in this range, of `what`)."""
    require(0.0 <= lower <= upper, what, (lower, upper), "0 <= smallest <= largest mass [kg]")
    total = cp.sum(masses)
    return cp.hstack([total - lower, *([] if np.isinf(upper) else [upper - total])])


def link_limits(body: cp.Expression, link: str, given: Any, like: Array) -> list[cp.Expression]:
    """What is known of one link, in units of the mass of a body like it (10,): a mass, a box or an
    ellipsoid for the centre of mass, ellipsoids for all mass, and nearness to the design `like`
    (raises InvalidSetting: a bound that does not exist, or is out of range)."""
    bounds = entries(given, link, mass=(2,), box=(2, 3), com_ellipsoid=Mapping,
                     ellipsoids=Sequence, near_design=())
    out: list[cp.Expression] = []
    if "mass" in bounds:
        low, high = bounds["mass"]
        out.append(mass_between(body[:1], low, high, link))
    if "box" in bounds:  # 004 eq. 26
        low, high = bounds["box"]
        require(np.all(low < high), link, bounds, "the first corner of box below the second [m]")
        inside = cp.hstack([body[1:4] - low * body[0], high * body[0] - body[1:4]])
        out.append(inside / np.tile(high - low, 2))
    if "com_ellipsoid" in bounds:  # 003 eq. 22
        off = cp.reshape(_ball(bounds["com_ellipsoid"], link)[[3, 7, 11]] @ body, (3, 1), order="C")
        out.append(cp.bmat([[body[0] * np.eye(1), off.T], [off, body[0] * np.eye(3)]]))
    balls = [_ball(each, link) for each in bounds.get("ellipsoids", ())]
    # A sum of bodies, one in each ellipsoid (003 Corollary 2); those after the first are variables.
    others = [np.linalg.pinv(ball) @ cp.vec(cp.Variable((4, 4), symmetric=True), order="C")
              for ball in balls[1:]]
    for part, ball in zip([body - sum(others), *others], balls, strict=False):
        out += [cp.reshape(ball @ part, (4, 4), order="C"),  # tr(J Q) >= 0 (003 eq. 23)
                (ball[15:] - ball[[0, 5, 10]].sum(axis=0)) @ part]
    out = [each / like[0] for each in out]
    if "near_design" in bounds:  # the Schur complement of |difference| <= distance (as 004 eq. 54)
        distance = float(bounds["near_design"])
        require(distance > 0.0, link, bounds, "near_design above 0")
        off = cp.reshape(make_reference(like, 1).inverse / distance @ (body - like), (BODY_SIZE, 1),
                         order="C")
        out.append(cp.bmat([[np.eye(1), off.T], [off, np.eye(BODY_SIZE)]]))
    return out


def _ball(given: Any, link: str) -> Array:
    """Columns (16, 10) of a pseudo-inertia where an ellipsoid is the unit ball (raises
    InvalidSetting)."""
    ellipsoid = entries(given, f"ellipsoid of {link}", center=(3,), half_axes=(3,), rpy=(3,))
    center, half, rpy = (ellipsoid.get(key, np.zeros(3)) for key in ("center", "half_axes", "rpy"))
    require(half.min() > 0.0, link, given, "half_axes above 0 [m]")
    to_ball = Rotation.from_euler("xyz", rpy).as_matrix().T / half[:, None]
    return np.asarray(FORMS["pseudo"] @ transform_matrix(to_ball, -to_ball @ center))


def robot_limits(names: Sequence[str], like: Reference,
                 constraints: Mapping[str, Any] | None = None, margin: float = MARGIN) -> Limits:
    """The limits of a robot: consistent bodies, friction and drive inertia >= 0 (004 eq. 28), and
    what is known beforehand (raises InvalidSetting: it does not exist, or is out of range).

    Args:
        names: (p,) of the parameters, the bodies first.
        like: robot of about the right size, and the design of `near_design`.
        constraints: as of a file: links, by name; masses, sums of them; form, one of `FORMS`.
    """
    known = entries(constraints or {}, "constraints", links=Mapping, masses=Sequence, form=str)
    links, sums, form = known.get("links", {}), known.get("masses", ()), known.get("form", "pseudo")
    require(form in FORMS, "form", form, " or ".join(FORMS))
    terms, owners = zip(*(name[:-1].split("(", 1) for name in names), strict=True)
    bodies = owners[:terms.count(BODY_TERMS[0]) * BODY_SIZE:BODY_SIZE]
    places = dict(zip(bodies, body_slices(len(bodies)), strict=True))
    signed = [k for k, term in enumerate(terms) if term in NOT_NEGATIVE]

    def place(link: str) -> slice:
        require(link in places, "link", link, "one that moves: " + ", ".join(bodies))
        return places[link]

    def limits(phi: cp.Expression) -> list[cp.Expression]:
        out = [consistent(phi[where], like.phi[where], form, margin) for where in places.values()]
        out += [phi[signed]] if signed else []
        for k, each in enumerate(sums):
            bound = entries(each, f"masses[{k}]", links=Sequence, min=(), max=())
            masses = [place(link).start for link in bound.get("links") or bodies]
            out.append(mass_between(
                phi[masses], float(bound.get("min", 0.0)), float(bound.get("max", np.inf)),
                f"masses[{k}]") / like.phi[masses].sum())
        for link, bounds in links.items():
            out += link_limits(phi[place(link)], f"link '{link}'", bounds, like.phi[place(link)])
        return out

    limits(cp.Constant(like.phi))  # complains of what is out of range
    return limits


def require(is_good: Any, what: str, given: Any, wanted: str) -> None:
    """Raise InvalidSetting where what a user wrote is not in range."""
    if not is_good:
        raise InvalidSetting(f"{what} is {given}; needed: {wanted}")


def entries(given: Any, what: str, **shapes: tuple[int, ...] | type) -> dict[str, Any]:
    """What a user wrote as a mapping, without its empty values (raises InvalidSetting: another key,
    shape or type; `what` names it). Each allowed key has the shape of its finite numbers, () for
    one, or a type."""
    require(isinstance(given, Mapping) and set(given) <= set(shapes), what, given,
            "a mapping of " + ", ".join(shapes))
    out = {key: value for key, value in given.items() if value is not None}
    try:
        for key, value in out.items():
            kind = shapes[key]
            if isinstance(kind, tuple):
                out[key] = numbers(out, key, *kind)
            elif not isinstance(value, kind):
                raise DamagedFile(f"its '{key}' is no {kind.__name__.lower()}")
    except DamagedFile as error:
        raise InvalidSetting(f"{what} is {given}: {error}") from error
    return out


def nearest_robot(rows: Array, target: Array, limits: Limits, reference: Reference) -> Array:
    """Parameters (p,) of the robot nearest to the data; directions that neither data nor limits
    bind are arbitrary.

    Args:
        rows: (r, p), target (r,): whitened, so that a residual of 1 is one standard deviation.

    Raises:
        InvalidData: the limits contradict each other, or the solver found no accurate answer.
    """
    size = len(reference.phi)
    scaled = rows @ reference.unit
    left, values, right = np.linalg.svd(scaled, full_matrices=True)
    known = values > np.finfo(float).eps * size * values.max(initial=0.0)
    sigma, wanted = values[known], left[:, :len(values)].T[known] @ (target - rows @ reference.phi)
    across = reference.unit @ right.T
    free = reference.phi + across[:, :len(sigma)] @ (wanted / sigma)
    expressions = limits(cp.Constant(free))
    if not any(each.variables() for each in expressions) and all(
            depth(np.asarray(each.value)) > 0.0 for each in expressions):
        return free
    # A coordinate known to worse than the reference's size starts near the reference.
    near, step = sigma * wanted / (sigma**2 + 1.0), np.maximum(sigma, 1.0)
    across[:, :len(sigma)] /= step
    center = reference.phi + across[:, :len(sigma)] @ (step * near)
    x = cp.Variable(size)
    residual = cp.multiply(sigma / step, x[:len(sigma)]) + (sigma * near - wanted)
    solve(cp.Minimize(cp.norm(residual)), limits(center + across @ x))
    return np.asarray(center + across @ np.asarray(x.value))


def depth(value: Array) -> float:
    """Smallest eigenvalue of a matrix, or entry of a vector: negative outside its cone."""
    return float(np.linalg.eigvalsh(value)[0] if value.ndim == 2 else value.min())


def solve(objective: cp.Minimize, expressions: list[cp.Expression]) -> list[cp.Constraint]:
    """Minimise with all expressions in their cones; returns the constraints, for their duals.
    Errors as of `nearest_robot`."""
    constraints = [each >> 0 if each.ndim == 2 else each >= 0 for each in expressions]
    problem = cp.Problem(objective, constraints)
    # Rounding may keep it from the last digits.
    if convex_program.solve(problem, _OPTIONS) or convex_program.solve(problem, {
            **_OPTIONS, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-8)}):
        return constraints
    if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
        raise InvalidData("no robot satisfies all constraints; are masses and boxes too small?")
    raise InvalidData(f"the conic solver found no accurate answer ({problem.status})")


def check_feasibility(base: Array, beta: Array, limits: Limits, ref: Reference
                      ) -> tuple[float, Array, float | None, tuple[Array, ...]]:
    """BPFT: whether a robot within the limits has the base parameters beta (nb,) of a matrix (nb,
    p) (004 eq. 51).

    The largest t is sought with ``limits(phi) - t 1`` in their cones, ``K phi = beta``: a problem
    that always has a solution. Returns t, the reference being at 1, where the search ends, and the
    robot (p,) that has it. Where t is negative, none is inside; then also a negative certificate
    and multipliers Z in the cones of the limits (each of the shape of its expression) that prove
    it: within the limits, the sum of ``<Z, limit(phi)>`` cannot be negative, but it is the
    certificate, whatever the null-space values of phi.
    """
    matrix, u = base @ ref.unit, ref.inverse @ ref.phi
    start = ref.unit @ (u + np.linalg.pinv(matrix) @ (beta - matrix @ u))
    null = ref.unit @ null_space(matrix)
    size = max(float(np.abs(ref.inverse @ start).max()), 1.0)  # of an estimate that is far off
    x, t = cp.Variable(null.shape[1]), cp.Variable()
    expressions = limits(start + size * null @ x)
    shifted = [(each - size * t * (np.eye(each.shape[0]) if each.ndim == 2 else 1.0)) / size
               for each in expressions]
    constraints = solve(cp.Minimize(-t), [*shifted, 1.0 / size - t])
    margin = min(size * float(np.asarray(t.value)), 1.0)
    witness = start + size * null @ np.asarray(x.value)
    if margin >= 0.0:
        return margin, witness, None, ()
    multipliers = tuple(np.asarray(each.dual_value) for each in constraints[:-1])
    total = sum(float(np.sum(z * each.value))
                for z, each in zip(multipliers, expressions, strict=True))
    return margin, witness, total, multipliers


def uniform_box(phi: Array) -> Array:
    """The box about a body (10,), along its frame, that is twice as large as one of uniform density
    with its second moments."""
    pseudo = pseudo_inertia(phi) / phi[0]
    com = pseudo[:3, 3]
    half = 2.0 * np.sqrt(3.0 * (np.diag(pseudo)[:3] - com**2))
    return np.array([com - half, com + half])


def box_reference(boxes: Sequence[Array], reference: Reference) -> Reference:
    """A reference robot with the standard deviations that the boxes of its bodies allow (eqs
    17-22), along the parameters about the middle of each box, in the link's frame (eq. 27)."""
    first, units = BODY_SIZE * len(boxes), []
    for box, phi in zip(boxes, reference.phi[:first].reshape(-1, BODY_SIZE), strict=True):
        to_link = transform_matrix(np.eye(3), box.mean(axis=0))
        # All mass in a corner; mass and moments are not negative.
        corner = np.abs(point_columns(0.5 * np.diff(box, axis=0))[:, 0])
        high = (1.0 + MASS_ERROR) * phi[0] * corner
        low = np.where(_UNITS[[0, 4, 7, 9]].any(axis=0), 0.0, -high)
        low[0] = (1.0 - MASS_ERROR) * phi[0]
        expected = np.linalg.solve(to_link, phi)
        units.append(to_link * np.maximum(high - expected, expected - low))
    return Reference(reference.phi, block_diag(*units, reference.unit[first:, first:]))


def null_space_prior(rows: Array, scale: Reference) -> tuple[Array, Array]:
    """Rows (r, p) and target (r,) of a prior on what whitened data rows know to less than a
    standard deviation of the expected robot `scale` (eqs 24-25)."""
    values, right = np.linalg.svd(rows @ scale.unit, full_matrices=True)[1:]
    prior = right[np.count_nonzero(values > 1.0):] @ scale.inverse
    return prior, prior @ scale.phi


def fit_mass_points(rows: Array, target: Array, limits: Limits, boxes: Sequence[Array],
                    scale: Reference) -> Array:
    """Parameters (p,) of the robot of mass points in the boxes of the bodies, evenly spaced from
    face to face, that fits best (eq. 29); rows, target, limits: as of `nearest_robot`; boxes:
    corners (2, 3) along the axes of a body's frame [m]; scale: expected robot, `box_reference`."""
    each, first = POINTS_PER_EDGE**3, BODY_SIZE * len(boxes)
    count, bodies = each * len(boxes), scale.phi[:first].reshape(-1, BODY_SIZE)
    grids = (np.meshgrid(*np.linspace(box[0], box[1], POINTS_PER_EDGE).T) for box in boxes)
    columns = [point_columns(np.reshape(grid, (3, -1)).T) * (body[0] / each)
               for grid, body in zip(grids, bodies, strict=True)]
    compose = block_diag(*columns, scale.unit[first:, first:])  # P, and joint terms as they are
    expected = np.concatenate([np.linalg.pinv(own) @ body  # eq. 23
                               for own, body in zip(columns, bodies, strict=True)])
    prior, wanted = null_space_prior(rows, scale)
    weak = np.sqrt(STABILITY) * np.eye(compose.shape[1])[:count]
    upper = triangle(np.column_stack([
        np.concatenate([rows @ compose, prior @ compose, weak]),
        np.concatenate([target, wanted, np.sqrt(STABILITY) * expected])]))
    x = cp.Variable(compose.shape[1])
    solve(cp.Minimize(cp.sum_squares(upper[:-1, :-1] @ x - upper[:-1, -1])),
          [x[:count], *limits(compose @ x)])
    return np.asarray(compose @ np.asarray(x.value))
