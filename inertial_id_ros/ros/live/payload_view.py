# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the view shows of one message, as text and as shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertial_id_ros.msg import InertialParameters

from ...apps.report.units import CONFIDENCE_95, NAMES, round_to_spread
from ...estimate import UNOBSERVED, VERDICT_WORDS
from ...geometry.equivalent_box import equivalent_box
from ...inertia import Array, principal_moments
from ..payload_client import GROUPS, NoPayload, Payload, body_of

_COLOURS = {"identified": "#1a7f37", "prior-dominated": "#9a6700", "unobserved": "#6e7781"}
_SCALES = (1.0, *9 * (1e3,))
_UNITS = ("kg", *3 * ("mm",), *6 * ("g\u00a0m²",))
_WARNING = "#b3261e"


class Ellipsoid(NamedTuple):
    """Or a box: centre (3,) [m], rotation (3, 3), half axes or whole lengths (3,) [m]."""

    centre: Array
    rotation: Array
    size: Array


def headline(payload: Payload | NoPayload) -> str:
    """What a program may use now, or why it may use nothing, as Markdown."""
    if isinstance(payload, NoPayload):
        return f'<span style="color:{_WARNING}">**No payload to use**: {payload.reason}</span>'
    tool = " (without the tool)" if payload.tool_apart else ""
    mass, about = round_to_spread(payload.mass, CONFIDENCE_95 * payload.sigma[0])
    return f"**{mass} ± {about} kg**{tool}, {payload.age:.1f} s old, in `{payload.frame_id}`"


def table(message: InertialParameters) -> str:
    """Values with 95 % intervals and verdicts, as Markdown."""
    lines = ["| | value | ± 95 % | |", "|---|---:|---:|---|"]
    body, spread = body_of(message), CONFIDENCE_95 * _sigma(message)
    values = (body.mass, *body.com, *body.inertia_com[np.triu_indices(3)])
    for k, (name, unit, scale) in enumerate(zip(NAMES, _UNITS, _SCALES, strict=True)):
        word = VERDICT_WORDS[min(message.verdict[k], len(VERDICT_WORDS) - 1)]
        value, about = round_to_spread(scale * values[k], scale * spread[k])
        if word == VERDICT_WORDS[UNOBSERVED]:
            value, about = "–", "–"
        label = f"{name} [{unit}]".replace(" ", "\u00a0")  # one line each
        lines.append(f"| {label} | {value} | {about} | "
                     f'<span style="color:{_COLOURS[word]}">{word}</span> |')
    return "\n".join(lines)


def findings(message: InertialParameters) -> str:
    """Status and findings, as Markdown."""
    lines = [f"- {text}" for text in message.diagnostics]
    return "\n".join([message.status, "", *lines])


def com_ellipsoid(message: InertialParameters) -> Ellipsoid | None:
    """Two standard deviations of the centre of mass along each principal axis; None where it is not
    observed."""
    if not message.valid or UNOBSERVED in message.verdict[GROUPS["com"]]:
        return None
    covariance = np.array(message.covariance).reshape(10, 10)[GROUPS["com"], GROUPS["com"]]
    variances, axes = principal_moments(covariance)
    return Ellipsoid(body_of(message).com, axes, 2.0 * np.sqrt(np.maximum(variances, 0.0)))


def inertia_box(message: InertialParameters) -> Ellipsoid | None:
    """The uniform box of the same mass and inertia; None where inertia is not observed."""
    if not message.valid or UNOBSERVED in message.verdict:
        return None
    body = body_of(message)
    lengths, axes = equivalent_box(body)
    return Ellipsoid(body.com, axes, lengths)


def mass_point(message: InertialParameters) -> tuple[float, float]:
    """Mass [kg] and its standard deviation; not a number without an estimate."""
    if not message.valid:
        return np.nan, np.nan
    return message.inertia.m, float(_sigma(message)[0])


def residual_point(message: InertialParameters) -> tuple[float, float]:
    """Root mean square of the force's [N] and the torque's [N m] residual over their axes."""
    if not message.valid:
        return np.nan, np.nan
    rms = np.array(message.residual_rms, dtype=float)
    return float(np.sqrt(np.mean(rms[:3] ** 2))), float(np.sqrt(np.mean(rms[3:] ** 2)))


def _sigma(message: InertialParameters) -> Array:
    covariance = np.array(message.covariance, dtype=float).reshape(10, 10)
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
