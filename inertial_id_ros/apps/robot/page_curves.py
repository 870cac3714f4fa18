# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Curves of a robot's report: torques as measured and predicted, and friction over speed."""

from __future__ import annotations

import numpy as np

from ...inertia import Array
from ...robot.joint_terms import DRIVE, OFFSET
from ..report.drawing.charts import Axes, Curve, chart
from ..report.drawing.elements import Markup, element, section
from ..report.wording import CONFIDENCE_95, percent
from .robot_identification import RobotResult

_SECONDS = 12.0  # of torque that are shown, in which single motions can be told apart
_POINTS = 201  # of a curve of friction


def torque_curves(result: RobotResult) -> Markup:
    """The torque of each joint over time, as measured and as predicted; of motion held back where
    there is any."""
    shown = result.validation or result.prediction
    time = shown.time - shown.time[0]
    part = time <= _SECONDS
    figures = []
    for j, name in enumerate(result.model.output_names):
        measured = shown.measured[part, j]
        predicted = measured - shown.left[part, j]
        said = (f"rms of measured less predicted {shown.error[j]:.3g} N m, "
                f"{percent(shown.error[j], shown.torque[j])} of the torque")
        axes = Axes((0.0, float(time[part][-1])), _limits(np.append(measured, predicted)))
        figures.append(element("figure", chart(name, "N m", [
            Curve("measured", time[part], measured, "z"),
            Curve("predicted", time[part], predicted, "black", dashed=True)], axes, said)))
    seen = ("The robot that predicts had not seen this motion." if result.validation is not None
            else "No motion was held back: the robot was identified from this one.")
    return section("Torque, measured and predicted", "torques",
                   element("p", f"Low-passed, the first {time[part][-1]:.0f} s. {seen}"),
                   element("div", *figures, class_="charts"))


def friction_curves(result: RobotResult) -> Markup:
    """Friction of each joint over its speed, as far as the recording went, with its interval."""
    model = result.model
    brakes = [name for name in model.terms.names if name not in (OFFSET, DRIVE)]
    if not brakes:
        return section("Friction", "friction",
                       element("p", "No friction was asked for: it counts as error."))
    figures = []
    for j, name in enumerate(model.joint_names):
        most = float(result.speeds[j])
        speed = np.linspace(-most, most, _POINTS)
        value, sigma = friction_at(result, j, speed)
        band = CONFIDENCE_95 * sigma
        said = f"{value[-1]:.3g} \u00b1 {band[-1]:.2g} N m at {most:.3g} rad/s"
        axes = Axes((-most, most), _limits(np.append(value - band, value + band)),
                    "speed [rad/s]")
        figures.append(element("figure", chart(name, "N m", [
            Curve("", speed, value, "z", band)], axes, said)))
    note = " Friction by load is that without load." if model.terms.load_bodies else ""
    return section("Friction", "friction",
                   element("p", "As far as the speeds of the recording went, with 95 % intervals."
                           + note), element("div", *figures, class_="charts"))


def friction_at(result: RobotResult, joint: int, speed: Array) -> tuple[Array, Array]:
    """Friction (n,) of a joint at speeds (n,), and its standard deviation (n,) [N m]."""
    model = result.model
    dq = np.zeros((len(speed), len(model.joint_names)))
    dq[:, joint] = speed
    terms = model.terms
    columns = terms.columns(dq, np.zeros_like(dq), np.zeros_like(dq))[:, joint]
    used = [k for k, term in enumerate(terms.names)
            if term not in (OFFSET, DRIVE) and terms.has(joint, term)]
    at = [model.term_index(joint, terms.names[k]) for k in used]
    own = columns[:, used]
    spread = result.robot.covariance[np.ix_(at, at)]
    return (own @ result.identified.phi[at],
            np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", own, spread, own), 0.0)))


def _limits(values: Array) -> tuple[float, float]:
    """Limits of the axis of values (n,)."""
    low, high = float(np.min(values)), float(np.max(values))
    edge = 0.06 * max(high - low, 1e-9)
    return low - edge, high + edge
