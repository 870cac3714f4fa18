# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot descriptions (URDF): read, checked, and made a model of Pinocchio."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ..errors import DamagedFile, InvalidModel, InvalidSetting
from ..io.files import read_text
from ..limits import MAX_URDF_BYTES

IMPOSSIBLE = 1e6  # m: no joint or frame of a robot lies that far away
_INERTIAL = (("mass", "value"), *(("inertia", name) for name in (
    "ixx", "ixy", "ixz", "iyy", "iyz", "izz")))


def parse_urdf(urdf: str, root_joint: pin.JointModel | None = None, dynamics: bool = False
               ) -> pin.Model:
    """Model of a URDF text; its root link is fixed to the world, or tied to it by `root_joint`.

    Args:
        dynamics: masses and inertias matter, so that those that are no numbers are an error.

    Raises:
        InvalidModel: not a URDF, or larger than its parser can be trusted with.
    """
    if len(urdf) > MAX_URDF_BYTES:
        raise InvalidModel(f"robot description has {len(urdf)} bytes; at most {MAX_URDF_BYTES}")
    if "<!DOCTYPE" in urdf or "<!ENTITY" in urdf:
        raise InvalidModel("robot description declares XML entities, which are not accepted")
    try:
        root = ElementTree.fromstring(urdf)  # the parser of URDF prints what is wrong
        if root.tag != "robot" or root.find("link") is None:
            raise InvalidModel(f"the robot description is <{root.tag}> without links; a URDF is "
                               "needed: <robot> with <link> and <joint>" + (
                                   "; expand xacro first" if "xacro" in urdf else ""))
        if dynamics:
            _check_inertias(root)
        model = pin.buildModelFromXML(urdf, *([] if root_joint is None else [root_joint]))
    except (ElementTree.ParseError, ValueError, RuntimeError, IndexError) as error:
        raise InvalidModel("the robot description is no URDF that can be read: "
                           f"{' '.join(str(error).split())[:200]}") from error
    for place in (*model.jointPlacements, *(frame.placement for frame in model.frames)):
        if not (np.abs(place.homogeneous) < IMPOSSIBLE).all():
            raise InvalidModel("the robot description has an origin that is not finite, or more "
                               f"than {IMPOSSIBLE:g} m away")
    return model


def _check_inertias(root: ElementTree.Element) -> None:
    """Raise InvalidModel where mass or inertia of a link is missing, or no number."""
    for link in root.iter("link"):
        for tag, name in _INERTIAL if link.find("inertial") is not None else ():
            element = link.find(f"inertial/{tag}")
            text = None if element is None else element.get(name)
            try:
                is_number = math.isfinite(float(text or ""))
            except ValueError:
                is_number = False
            if not is_number:
                raise InvalidModel(f"link '{link.get('name')}' of the robot description has the "
                                   f"{tag} {name}={text!r}; it must be a number")


def link_names(model: pin.Model) -> tuple[str, ...]:
    """Names of all links, the root first; joints may have the same names."""
    return tuple(f.name for f in model.frames if f.type == pin.FrameType.BODY)


def read_description(path: Path) -> str:
    """The text of a URDF file.

    Raises:
        InvalidSetting: no such file, or not readable.
        InvalidModel: not text, too large, or a xacro file.
    """
    try:
        text = read_text(path, MAX_URDF_BYTES)
    except OSError as error:
        raise InvalidSetting(f"robot description file {path} cannot be read: "
                             f"{error.strerror}") from error
    except DamagedFile as error:
        raise InvalidModel(f"robot description file {path} cannot be used: {error}") from error
    if path.suffix == ".xacro" or "<xacro:" in text:
        raise InvalidModel(f"{path} is a xacro file; expand it first: xacro {path} > robot.urdf")
    return text
