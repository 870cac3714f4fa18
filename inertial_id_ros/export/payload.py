# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload to export, of an estimate or of one that was saved, and what its reader must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidSetting, NotEnoughData
from ..estimate import PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate, ParameterVerdict
from ..inertia import PARAMETER_NAMES, Array, Body, is_consistent, move_body, phi_from_body
from ..io import fields
from ..io.files import read_report
from ..limits import MAX_NAME

DEFAULT_LINK = "payload"
VERDICTS = {UNOBSERVED: "not told by the data, the prior's value is written",
            PRIOR_DOMINATED: "mostly from the prior"}


@dataclass(frozen=True)
class PayloadOnLink:
    """A payload that may be exported.

    Attributes:
        link: its name in the document.
        parent: link of the robot, or other frame, that carries it.
        body: mass [kg], centre of mass [m] and inertia about it [kg m^2], in `parent`.
        source: where the numbers come from.
        notes: what its user must know, one sentence each.
        tool_apart: it is the object alone, without the tool that carries it.

    Raises:
        InvalidSetting: a name cannot stand in a document of any format.
    """

    link: str
    parent: str
    body: Body
    source: str
    notes: tuple[str, ...] = ()
    tool_apart: bool = False

    def __post_init__(self) -> None:
        for what, name in (("link", self.link), ("parent", self.parent)):
            if not name or not name.isprintable() or len(name) > MAX_NAME:
                raise InvalidSetting(f"{what} is {name[:100]!r}; it must have 1 to {MAX_NAME} "
                                     "printable characters")
        if self.link in (self.parent, "world"):
            raise InvalidSetting(f"link '{self.link}' is the parent itself, or the world; the "
                                 "payload needs another name")

    @property
    def joint(self) -> str:
        """Name of the joint that fixes it to its parent."""
        return f"{self.link}_joint"

    def on(self, parent: str, rotation: Array, translation: Array) -> PayloadOnLink:
        """The same body on another link, where ``x_new = rotation x + translation``."""
        return replace(self, parent=parent, body=move_body(self.body, rotation, translation))

    def with_note(self, note: str) -> PayloadOnLink:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))


def payload_from_estimate(outcome: Estimate | NoEstimate,
                          link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of an estimate, on the frame of the sensor.

    Raises:
        NotEnoughData: there is no estimate, it is in doubt, or its data do not tell mass or centre
            of mass.
        InvalidData: no body has these parameters. InvalidSetting: the link's name.
    """
    if isinstance(outcome, NoEstimate):
        raise NotEnoughData(f"there is no estimate to export: {outcome.reason}")
    if outcome.doubted:
        raise NotEnoughData(f"the estimate is in doubt: {outcome.doubted}")
    return _from_report(outcome.to_json(), link)


def read_saved_estimate(path: Path, link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of a saved estimate, on the frame of the sensor.

    Raises:
        InvalidSetting: the file cannot be read. InvalidData: it holds no estimate.
        NotEnoughData: it says why there was none, or its data do not tell mass or centre of mass.
    """
    try:
        return _from_report(read_report(path), link)
    except OSError as error:
        raise InvalidSetting(f"saved estimate {path} cannot be read: {error.strerror}") from error
    except (DamagedFile, InvalidData) as error:
        raise InvalidData(f"saved estimate {path} cannot be used: {error}") from None


def _from_report(report: dict[str, Any], link: str) -> PayloadOnLink:
    """The payload of a report, as `Estimate.to_json` gives it.

    Raises:
        DamagedFile: it is no such report. InvalidData: no body has these parameters.
        NotEnoughData: there was no estimate, or its data do not tell mass or centre of mass.
    """
    if not isinstance(report.get("valid"), bool):
        raise DamagedFile("it holds no estimate")
    if not report["valid"]:
        said = report.get("diagnostics")
        why = said[0] if isinstance(said, list) and said else "no reason is given"
        raise NotEnoughData(f"there was no estimate to save: {why}")
    tensor = fields.numbers(report, "inertia_com", 3, 3)
    if not np.abs(tensor - tensor.T).max() <= 1e-9 * np.abs(tensor).max():
        raise DamagedFile("its 'inertia_com' is not symmetric")
    body = Body(fields.number(report, "mass"), fields.numbers(report, "com", 3),
                0.5 * (tensor + tensor.T))
    if not is_consistent(phi_from_body(body.mass, np.zeros(3), body.inertia_com)):
        raise InvalidData("the estimate has parameters that no rigid body has")
    samples, stamp = report.get("samples"), report.get("stamp_ns")
    if type(samples) is not int or type(stamp) is not int:
        raise DamagedFile("its 'samples' and 'stamp_ns' are no whole numbers")
    frame, apart = str(report.get("frame_id", "")), report.get("tool_apart") is True
    notes = _notes(report, fields.verdict(report, "verdict"), frame)
    if apart:
        notes.append("it is the object alone, without the tool that was set apart")
    source = (f"{report.get('method')} on {samples} samples, "
              f"stamp {stamp // 10**9}.{stamp % 10**9:09d} s")
    return PayloadOnLink(link, frame, body, source, tuple(notes), apart)


def _notes(report: dict[str, Any], verdict: Sequence[ParameterVerdict], frame: str) -> list[str]:
    """How old an estimate is, and which parameters its data do not, or hardly, tell (raises
    NotEnoughData where mass or centre of mass is among the former)."""
    named = {v: [name for name, found in zip(PARAMETER_NAMES, verdict, strict=True) if found == v]
             for v in VERDICTS}
    if unknown := [name for name in named[UNOBSERVED] if name in PARAMETER_NAMES[:4]]:
        raise NotEnoughData(f"the data of this estimate do not tell {', '.join(unknown)}; a "
                            "payload is exported only with mass and centre of mass")
    notes = [f"{words}: {', '.join(named[v])} (axes of '{frame}')"
             for v, words in VERDICTS.items() if named[v]]
    if report.get("stale") is True:
        notes.insert(0, f"it was stale: {report.get('stale_reason') or 'no new data came'}")
    return notes
