# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Plain numbers: YAML for configurations, JSON for the end effector of Franka Desk."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from ..errors import printable
from ..inertia import PARAMETER_NAMES, principal_moments
from .markup import TENSOR_ENTRIES, number
from .payload import Payload
from .ranges import DRAW, ranges_of


def payload_yaml(payload: Payload) -> str:
    """Mass, centre of mass and inertia with frame and units, also as principal moments, and their
    ranges."""
    body = payload.body
    moments, axes = principal_moments(body.inertia_com)
    tensor = ", ".join(f"{name}: {_scalar(body.inertia_com[i, j])}"
                       for name, i, j in TENSOR_ENTRIES)
    said = [f"# {printable(line)}" for line in (f"By inertial_id_ros: {payload.source}",
                                                *payload.notes)]
    return "\n".join([
        *said, "load:", f"  frame: {json.dumps(payload.parent, ensure_ascii=False)}",
        "  units: {mass: kg, length: m, inertia: kg m^2}", f"  mass: {_scalar(body.mass)}",
        f"  center_of_mass: {_list(body.com)}",
        "  # About the centre of mass, along the axes of the frame; ixy is -int x y dm.",
        f"  inertia: {{{tensor}}}",
        "  # The same: moments about the principal axes, which are the columns of the rotation.",
        f"  principal_moments: {_list(moments)}",
        f"  rotation: {_rows(axes)}", *_ranges(payload), ""])


def _ranges(payload: Payload) -> list[str]:
    """The group of ranges, and the covariance; nothing where they are not known."""
    ranges = ranges_of(payload)
    if ranges is None:
        return []
    return ["# Low and high ends of two standard deviations, in the units and axes of the load:",
            f"# {DRAW}.", "ranges:", f"  mass: {_list(ranges.mass)}",
            f"  center_of_mass: {_rows(ranges.com)}",
            f"  principal_moments: {_rows(ranges.moments)}", "covariance:",
            f"  of: [{', '.join(PARAMETER_NAMES)}]", f"  matrix: {_rows(ranges.covariance)}"]


def payload_franka_desk(payload: Payload) -> str:
    """The end-effector configuration that Franka Desk imports: SI units, in the flange's frame.

    Fields and their order are those of endeffector-config.json in "End effector commissioning" of
    Franka RIDE 1.1.1: `transformation` of the end effector in the flange and `inertia` are
    column-major. No estimate knows the end effector's frame: it is written as that of the flange.
    """
    body = payload.body
    tree = {"mass": body.mass, "centerOfMass": body.com.tolist(),
            "transformation": np.eye(4).ravel(order="F").tolist(),
            "inertia": body.inertia_com.ravel(order="F").tolist()}
    return json.dumps(tree, indent=2, allow_nan=False) + "\n"


def _scalar(value: float) -> str:
    """A number that YAML 1.1 takes for one: with a point, also before an exponent."""
    digits, e, exponent = number(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{e}{exponent}"


def _rows(rows: Iterable[Iterable[float]]) -> str:
    """Rows of numbers in brackets."""
    return f"[{', '.join(map(_list, rows))}]"


def _list(values: Iterable[float]) -> str:
    """Numbers in brackets."""
    return f"[{', '.join(map(_scalar, values))}]"
