# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload to export, of an estimate or of one that was saved, and what its user must know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidSetting, NotEnoughData
from ..estimate import PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate
from ..inertia import PARAMETER_NAMES, Body, is_consistent, phi_from_body
from ..io import fields
from ..io.files import read_report
from ..limits import MAX_NAME

DEFAULT_LINK = "payload"


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

    def with_note(self, note: str) -> PayloadOnLink:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))


def payload_from_estimate(outcome: Estimate | NoEstimate,
                          link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of an estimate, on the frame of the sensor.

    Raises:
        NotEnoughData: there is no estimate, it is in doubt, or its data do not determine mass or
            centre of mass.
        DamagedFile: no body has these parameters. InvalidSetting: the link's name.
    """
    if isinstance(outcome, Estimate) and outcome.doubted:
        raise NotEnoughData(f"the estimate is in doubt: {outcome.doubted}")
    return _from_report(outcome.to_json(), link)


def read_saved_estimate(path: Path, link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of a saved estimate, on the frame of the sensor.

    Raises:
        InvalidSetting: the file cannot be read. InvalidData: it holds no estimate.
        NotEnoughData: it says why there was none, or its data do not determine mass or centre of
            mass.
    """
    try:
        return _from_report(read_report(path), link)
    except OSError as error:
        raise InvalidSetting(f"saved estimate {path} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidData(f"saved estimate {path} cannot be used: {error}") from None


def body_in(report: dict[str, Any]) -> Body:
    """The body of a report, as `Estimate.to_json` gives it (raises DamagedFile)."""
    body = Body(fields.number(report, "mass"), fields.numbers(report, "com", 3),
                fields.numbers(report, "inertia_com", 3, 3))
    asymmetry = np.abs(body.inertia_com - body.inertia_com.T).max()
    if asymmetry > 1e-9 * np.abs(body.inertia_com).max():
        raise DamagedFile("its 'inertia_com' is not symmetric")
    if not is_consistent(phi_from_body(body.mass, np.zeros(3), body.inertia_com)):
        raise DamagedFile("no rigid body has its mass and inertia")
    return body


def _from_report(report: dict[str, Any], link: str) -> PayloadOnLink:
    """The payload of a report, as `Estimate.to_json` gives it.

    Raises:
        DamagedFile: it is no such report. NotEnoughData: there was no estimate, or its data do not
            determine mass or centre of mass.
    """
    if report.get("valid") is False:
        raise NotEnoughData("there is no estimate to export: "
                            + str(next(iter(report.get("diagnostics") or ()), "no reason given")))
    body, frame = body_in(report), fields.text(report, "frame_id")
    verdict = fields.verdict(report, "verdict")
    unknown, guessed = (
        [name for name, found in zip(PARAMETER_NAMES, verdict, strict=True) if found == wanted]
        for wanted in (UNOBSERVED, PRIOR_DOMINATED))
    if UNOBSERVED in verdict[:4]:
        raise NotEnoughData(f"the data of this estimate do not determine {', '.join(unknown)}; a "
                            "payload is exported only with mass and centre of mass")
    stamp, apart = fields.stamp(report, "stamp_ns"), report.get("tool_apart") is True
    notes = {
        f"it was stale: {report.get('stale_reason') or 'no new data came'}": report.get("stale"),
        "not determined by the data, the prior's value is written: "
        f"{', '.join(unknown)} (axes of '{frame}')": unknown,
        f"mostly from the prior: {', '.join(guessed)} (axes of '{frame}')": guessed,
        "it is the object alone, without the tool that was set apart": apart}
    source = (f"{report.get('method')} on {report.get('samples')} samples, "
              f"stamp {stamp // 10**9}.{stamp % 10**9:09d} s")
    return PayloadOnLink(link, frame, body, source,
                         tuple(note for note, holds in notes.items() if holds), apart)
