# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of an estimate, or of one that was saved, as a document, on any link of the robot."""

import re
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin

from .. import errors, inertia
from ..estimate import PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate
from ..io.fields import covariance, numbers, value, verdict
from ..io.files import read_report, user_path
from ..motion.robot import link_names, parse_urdf
from . import documents
from .documents import PayloadOnLink

ROBOT, DESK = "urdf_robot", "franka_desk"
FORMATS = (*documents.FORMATS, ROBOT)
DEFAULT_LINK = "payload"
NEARLY_ZERO = 1e-5  # kg m^2: OpenUSD takes smaller moments (norm) for not stated
BEGIN = "<!-- inertial_id_ros payload begins -->"
END = "<!-- inertial_id_ros payload ends -->\n"


class ExportedPayload(NamedTuple):
    """The text of a document, and what its user must know, one sentence each."""

    text: str
    notes: tuple[str, ...]


def export_payload(estimate: Estimate | NoEstimate | str | Path, format: str,
                   robot_description: str = "", parent: str = "", link: str = DEFAULT_LINK
                   ) -> ExportedPayload:
    """Write a payload for planners, simulators and controllers, as `export_payload` does.

    Args:
        estimate: or the path of a saved one.
        format: urdf, urdf_robot, sdf, mjcf, usd, yaml or franka_desk.
        robot_description: text of a URDF; needed for urdf_robot and for a parent other than the
            frame of the estimate.
        parent: link that carries the payload, fixed to that frame; empty: that frame.
        link: name of the payload in the document.

    Raises:
        NotEnoughData: there is no estimate, or its data do not tell mass or centre of mass;
            InertialIdError: a name is not allowed, or the file or the description cannot be used.
    """
    try:
        report = estimate.to_json() if isinstance(estimate, Estimate | NoEstimate) else (
            read_report(user_path(estimate)))
        return export(payload_of(report, link), format, parent, robot_description)
    except OSError as error:
        raise errors.InvalidSetting(
            f"saved estimate {estimate} cannot be read: {error.strerror}") from error
    except errors.DamagedFile as error:
        raise errors.InvalidData(f"saved estimate {estimate} cannot be used: {error}") from None


def estimate_from(body: inertia.Body, covariance: inertia.Array, **known: Any) -> Estimate:
    """The estimate that a message or a file tells of, NaN where it says nothing.

    Args:
        covariance: (10, 10) of mass, centre of mass and inertia about it; known: other fields.
    """
    phi = inertia.phi_from_body(*body)
    back = np.linalg.inv(inertia.report_jacobian(phi))
    required = {one.name: np.nan for one in fields(Estimate) if one.default is MISSING}
    return Estimate(**required | known | {"phi": phi, "phi_covariance": back @ covariance @ back.T})


def estimate_of(report: dict[str, Any]) -> Estimate:
    """The estimate of a report, as `Estimate.to_json` gives it; the bias of a sensor then is not
    that of now, and NaN, as is what neither an export nor a target needs (raises DamagedFile: it is
    no such report; NotEnoughData: there was no estimate)."""
    if report.get("valid") is False:
        raise errors.NotEnoughData("there is no estimate: " + str(
            next(iter(report.get("diagnostics") or ()), "no reason given")))
    body = inertia.Body(float(numbers(report, "mass")), numbers(report, "com", 3),
                        numbers(report, "inertia_com", 3, 3))
    if not inertia.is_consistent(inertia.phi_from_body(body.mass, np.zeros(3), body.inertia_com)):
        raise errors.DamagedFile("no rigid body has its mass and inertia")
    return estimate_from(
        body, covariance(report, "covariance"), stamp_ns=value(report, "stamp_ns", int),
        frame_id=value(report, "frame_id", str), verdict=verdict(report, "verdict"),
        data_share=numbers(report, "data_share", 10), bias=np.full(6, np.nan),
        **{name: report[name] for name in ("method", "samples", "stale", "stale_reason",
                                           "tool_apart", "doubted") if name in report})


def payload_of(report: dict[str, Any], link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of a report, as `Estimate.to_json` gives it, on the frame of the sensor.

    Raises:
        DamagedFile, NotEnoughData: as of `estimate_of`; NotEnoughData: it is in doubt, or does not
            determine mass or centre of mass.
    """
    found = estimate_of(report)
    if found.doubted:
        raise errors.NotEnoughData(f"the estimate is in doubt: {found.doubted}")
    verdicts = dict(zip(inertia.PARAMETER_NAMES, found.verdict, strict=True))
    unknown, guessed = (", ".join(name for name, verdict in verdicts.items() if verdict == wanted)
                        for wanted in (UNOBSERVED, PRIOR_DOMINATED))
    if UNOBSERVED in found.verdict[:4]:
        raise errors.NotEnoughData(f"the data of this estimate do not determine {unknown}; a "
                                   "payload is exported only with mass and centre of mass")
    notes = {
        f"it was stale: {found.stale_reason or 'no new data came'}": found.stale,
        "not determined by the data, the prior's value is written: "
        f"{unknown} (axes of '{found.frame_id}')": unknown,
        f"mostly from the prior: {guessed} (axes of '{found.frame_id}')": guessed,
        "it is the object alone, without the tool that was set apart": found.tool_apart}
    source = (f"{found.method} on {found.samples} samples, stamp {found.stamp_ns // 10**9}."
              f"{found.stamp_ns % 10**9:09d} s")
    return PayloadOnLink(link, found.frame_id, found.body, source,
                         tuple(note for note, holds in notes.items() if holds))


def export(payload: PayloadOnLink, name: str, parent: str, urdf: str) -> ExportedPayload:
    """A payload as a document of a format, on a link (empty: the present one) of a robot
    description (empty: there is none).

    Raises:
        InvalidSetting: no such format, or a name that it does not allow.
        UnknownFrame: no such link.
        InvalidModel: the description is missing or cannot be used, or the parent moves against the
            frame of the estimate.
    """
    if name not in FORMATS:
        raise errors.InvalidSetting(f"format is {name[:100]!r}; allowed: {', '.join(FORMATS)}")
    if name == DESK and not parent:
        raise errors.UnknownFrame(f"{DESK} needs the payload in the frame of the flange: name its "
                                  "link as parent, as fr3_link8")
    parent = parent or payload.parent
    if name == ROBOT or parent != payload.parent:
        if not urdf:
            raise errors.InvalidModel(f"format {name} on '{parent}', from the frame "
                                      f"'{payload.parent}', needs a robot description")
        urdf = without_payloads(urdf, payload.link)
        payload = move_to_link(payload, parent, parse_urdf(urdf))
    notes = payload.notes
    if name == DESK:
        notes += (f"Desk takes the numbers in the frame of the flange, here '{parent}'; the "
                  "transformation is that of the flange, set the tool centre point in Desk",)
    if name == "usd" and np.linalg.norm(
            inertia.principal_moments(payload.body.inertia_com)[0]) < NEARLY_ZERO:
        notes += (f"its moments are less than {NEARLY_ZERO:g} kg m^2 in all, which OpenUSD takes "
                  "for none, and computes those of a small sphere instead",)
    payload = replace(payload, notes=notes)
    return ExportedPayload(add_payload(urdf, payload) if name == ROBOT else
                           documents.FORMATS[name](payload), notes)


def move_to_link(payload: PayloadOnLink, parent: str, model: pin.Model) -> PayloadOnLink:
    """The payload on a link of the robot, to which its present one is fixed (raises UnknownFrame:
    one of them is no link; InvalidModel: a joint can move between them)."""
    for link in {payload.parent, parent} - set(link_names(model)):
        raise errors.UnknownFrame(f"'{link}' is no link of the robot description; links: "
                                  f"{', '.join(link_names(model))}")
    old, new = (model.frames[model.getFrameId(link, pin.FrameType.BODY)]
                for link in (payload.parent, parent))
    if old.parentJoint != new.parentJoint:
        raise errors.InvalidModel(f"parent '{parent}' moves against '{payload.parent}', the frame "
                                  "of the estimate; a parent must be fixed to it")
    pose = new.placement.inverse() * old.placement
    return replace(payload, parent=parent,
                   body=inertia.move_body(payload.body, pose.rotation, pose.translation))


def add_payload(urdf: str, payload: PayloadOnLink) -> str:
    """A robot description with the payload as a link fixed to its parent; all else stays as it is,
    byte for byte (raises InvalidModel where the result cannot be used, as if a name is taken)."""
    end = [m.start() for m in re.finditer(
        r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|</robot\s*>", urdf, re.S) if m[0].startswith("</")][-1]
    text = f"{urdf[:end]}{BEGIN}\n{documents.fill(documents.URDF_PARTS, payload)}{END}{urdf[end:]}"
    parse_urdf(text)
    return text


def without_payloads(urdf: str, link: str) -> str:
    """A robot description without the payloads of a name that `add_payload` has added."""
    return re.sub(f"{BEGIN}.*?{END}", lambda block: (
        "" if f"\n<link name={quoteattr(link)}>" in block[0] else block[0]), urdf, flags=re.S)
