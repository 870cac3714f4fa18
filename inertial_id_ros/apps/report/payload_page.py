# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a payload: verdict, numbers, wrench, what limits the accuracy, checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...estimate import Estimate
from ...settings import Settings
from .diagnosis import diagnose
from .figures import wrench_charts
from .page import (
    Cell,
    Part,
    Section,
    Table,
    parameter_table,
    provenance_section,
    render,
    sensor_table,
)
from .prediction import Prediction, held_out
from .results import CONFIDENCE_95, Identification, percent, round_to_spread, two_digits

# Errors of the set-up: of `Estimate.alignment`.
ALIGNMENT = (*((f"sensor turned about {axis}", "deg", np.rad2deg(1.0)) for axis in "xyz"),
             *((f"gravity tilted about {axis}", "deg", np.rad2deg(1.0)) for axis in "xy"),
             ("stamps of the wrench early by", "ms", 1e3))
WRENCH_BINS = 1200  # of the end of a recording, in which single motions can be distinguished


def payload_page(result: Identification, settings: Settings, recording: Path, command: str) -> str:
    """The report of a run, as HTML in one file (raises MissingPackage)."""
    outcome = result.outcome
    sections = [_wrench_section(result.prediction), _checks_section(result),
                provenance_section(str(recording), command, settings)]
    if isinstance(outcome, Estimate):
        sections[:0] = [Section("Mass, centre of mass, inertia", "parameters", [
            parameter_table(outcome),
            f"In axes of {outcome.frame_id}; inertia about the centre of mass, off-diagonals as "
            f"entries of the tensor. Method {outcome.method}, {outcome.samples} samples, "
            f"{outcome.window:.1f} s."])]
        sections.insert(2, _limits_section(outcome))
    return render(f"Payload report: {recording.name}", diagnose(result), sections)


def _wrench_section(prediction: Prediction | None) -> Section:
    """The wrench as measured, and as the estimates before predict it."""
    parts: list[Part] = ["There is no wrench with a known motion."]
    part = None if prediction is None else prediction.part(slice(-WRENCH_BINS, None))
    if part is not None and np.isfinite(part.measured).any():
        contacts = np.flatnonzero(np.diff(np.r_[0, ~part.free, 0])).reshape(-1, 2)
        parts = [f"Solid: measured. Dashed: predicted by the newest estimate before. The last "
                 f"{part.time[-1] - part.time[0]:.0f} s; shaded: a contact.",
                 wrench_charts(part.time, part.measured, part.model, [
                     (part.time[first], part.time[last - 1]) for first, last in contacts])]
    found = held_out(prediction)
    if found is not None:
        rows = [(name, f"{without:.3g}", two_digits(with_), unit, percent(with_, without))
                for name, (without, with_), unit in (("force", found.force, "N"),
                                                     ("torque", found.torque, "N m"))]
        parts += [Table("Residual wrench, rms",
                        ("", "without estimate", "with it", "unit", "share"), rows),
                  f"On data that the estimate had not seen: each of {found.bins} means over 10 ms "
                  "is predicted by the newest estimate before it; the bias is taken out either "
                  f"way. Left out: {found.left_out} during a contact."]
    return Section("Measured and predicted wrench", "wrench", parts)


def _limits_section(estimate: Estimate) -> Section:
    """What keeps the numbers from being known better."""
    parts: list[Part] = []
    rows = [(name, *round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma), unit)
            for (name, unit, scale), value, sigma in zip(
                ALIGNMENT, estimate.alignment, estimate.alignment_sigma, strict=False) if sigma]
    if rows:
        parts.append(Table("Errors of the set-up, estimated with the payload",
                           ("", "value", "\u00b1 95 %", "unit"), rows))
    if np.any(estimate.residual_rms):  # joint torques know no channels of a sensor
        parts.append(sensor_table(estimate))
    return Section("What limits the accuracy", "limits", parts or ["More motion tells more."])


def _checks_section(result: Identification) -> Section:
    """All findings, the worst first, what was read, and what was chosen."""
    tool = [] if result.tool is None else [f"The object is apart from {result.tool.describe()}"]
    rows = [(f.level, Cell(f.text, "text")) for f in result.findings]
    return Section("Checks", "checks", [
        Table("Findings", ("level", "what"), rows) if rows else "Nothing to report.",
        Table(f"What was read, {result.duration:.1f} s", ("topic", "messages"),
              [(name, str(count)) for name, count in result.counts.items()]),
        *result.notes, *tool])
