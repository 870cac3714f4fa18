# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bounds on the bodies of a robot that a user gives.

They are a mapping (of a YAML file, see `docs/robot.md`) of links to bounds on their mass, centre of
mass and density, and of sums of masses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...extras import optional_packages
from ...inertia import Array
from ...robot.constraints import (
    FORMS,
    Ellipsoid,
    Limits,
    Parameters,
    com_in_box,
    com_in_ellipsoid,
    density_in_union,
    mass_between,
    near_design,
)
from ...robot.mass_points import Box, uniform_box
from ...robot.model import BODY_SIZE

with optional_packages("identifying a robot"):
    import cvxpy as cp

_OF_LINK = {"mass", "box", "com_ellipsoid", "ellipsoids", "near_design"}
_OF_ELLIPSOID = {"center", "half_axes", "rpy"}
_OF_SUM = {"links", "min", "max"}


@dataclass(frozen=True)
class Known:
    """Bounds of the bodies of a robot that are known beforehand.

    Attributes:
        links: bounds of links by name; masses: bounds on sums of masses.
        form: of physical consistency, one of `FORMS`.
    """

    links: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    masses: Sequence[Mapping[str, Any]] = ()
    form: str = "pseudo"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Known:
        """Known bounds of the mapping of a file (raises InvalidSetting)."""
        parts = _only({"links", "masses", "form"}, given, "constraints")
        links, masses = parts.get("links") or {}, parts.get("masses") or []
        if not isinstance(links, Mapping) or not isinstance(masses, list):
            raise InvalidSetting(f"constraints: links are {links}, masses are {masses}; expected a "
                                 "mapping by link, and a list")
        known = cls(links, masses, parts.get("form", "pseudo"))
        if known.form not in FORMS:
            raise InvalidSetting(f"form is '{known.form}'; allowed: {', '.join(FORMS)}")
        return known

    def limits(self, bodies: Sequence[str], like: Array) -> Limits:
        """Expressions of these bodies, which phi begins with.

        Args:
            like: (p,) a robot of about the right size, and the design of `near_design`.

        Raises:
            InvalidSetting: a link or bound that does not exist. InvalidData: a bound out of range.
        """
        sums = [_only(_OF_SUM, each, "masses") for each in self.masses]
        wanted = [[_place(link, bodies) for link in each.get("links") or bodies] for each in sums]
        places = [slice(_place(link, bodies), _place(link, bodies) + BODY_SIZE)
                  for link in self.links]

        def limits(phi: Parameters) -> list[cp.Expression]:
            out = [mass_between(phi[where], float(numbers(each, "min", default=0.0)),
                                float(numbers(each, "max", default=np.inf)))
                   / like[where].sum() for where, each in zip(wanted, sums, strict=True)]
            for where, (link, bounds) in zip(places, self.links.items(), strict=True):
                out += _link_limits(phi[where], link, bounds, like[where])
            return out

        limits(cp.Constant(like))  # complains of what is out of range
        return limits

    def boxes(self, bodies: Sequence[str], design: Array) -> list[Box]:
        """The box of each body; of those without one, twice that of a uniform body like it."""
        return [Box(*numbers(self.links[body], "box", 2, 3)) if "box" in self.links.get(body, {})
                else uniform_box(own) for body, own in zip(
                    bodies, design[:BODY_SIZE * len(bodies)].reshape(-1, BODY_SIZE), strict=True)]


def _link_limits(body: cp.Expression, link: str, bounds: Any, like: Array
                 ) -> list[cp.Expression]:
    """Expressions of one body, in units of the mass of a body like it (10,).

    Raises:
        InvalidSetting: a bound that does not exist or is out of range.
    """
    _only(_OF_LINK, bounds, f"link '{link}'")
    out = []
    try:
        if "mass" in bounds:
            out.append(mass_between(body[:1], *numbers(bounds, "mass", 2).tolist()))
        if "box" in bounds:
            out.append(com_in_box(body, *numbers(bounds, "box", 2, 3)))
        if "com_ellipsoid" in bounds:
            out.append(com_in_ellipsoid(body, _ellipsoid(bounds["com_ellipsoid"])))
        if bounds.get("ellipsoids"):
            out += density_in_union(body, [_ellipsoid(each) for each in bounds["ellipsoids"]])
        out = [each / like[0] for each in out]
        if "near_design" in bounds:
            out.append(near_design(body, like, float(numbers(bounds, "near_design"))))
    except (InvalidData, InvalidSetting) as error:
        raise InvalidSetting(f"link '{link}': {error}") from None
    return out


def _ellipsoid(given: Mapping[str, Any]) -> Ellipsoid:
    """An ellipsoid of its centre, half axes [m] and, where it is turned, roll, pitch, yaw [rad]."""
    parts = _only(_OF_ELLIPSOID, given, "ellipsoid")
    turn = Rotation.from_euler("xyz", numbers(parts, "rpy", 3, default=(0.0,) * 3))
    half = numbers(parts, "half_axes", 3)
    if not half.min() > 0.0:
        raise InvalidSetting(f"half_axes is {half.tolist()} m; each must be positive")
    across = turn.as_matrix() * half
    return Ellipsoid(numbers(parts, "center", 3), across @ across.T)


def _place(link: str, bodies: Sequence[str]) -> int:
    """Index of the mass of a body (raises InvalidSetting)."""
    if link not in bodies:
        raise InvalidSetting(f"there is no link '{link}' that moves; there are: "
                             + ", ".join(bodies))
    return BODY_SIZE * list(bodies).index(link)


def _only(allowed: set[str], given: Any, what: str) -> Mapping[str, Any]:
    """A mapping that holds nothing else (raises InvalidSetting)."""
    if not isinstance(given, Mapping) or not set(given) <= allowed:
        held = sorted(map(str, given)) if isinstance(given, Mapping) else given
        raise InvalidSetting(f"{what}: {held}; allowed: {', '.join(sorted(allowed))}")
    return given


def numbers(given: Any, key: str, *shape: int, default: float | Sequence[float] | None = None
            ) -> Array:
    """Finite numbers of a shape (none: a single number) under a key of a mapping; the default where
    it is not there (raises InvalidSetting)."""
    if not isinstance(given, Mapping) or (key not in given and default is None):
        raise InvalidSetting(f"'{key}' is missing in {given}")
    if key not in given:
        return np.array(default)
    try:
        array = np.asarray(given[key], dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape != shape or not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + " numbers" if shape else "a number"
        raise InvalidSetting(f"{key} is {given[key]}; expected {wanted}")
    return array
