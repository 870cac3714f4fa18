# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""All that an identifier has learnt, as bytes from which another one goes on to the bit.

The bytes are a pickle, which is read with care: it may come from a stranger. It can make objects of
the classes of this package's lower rooms and of numpy, and calls nothing else; models of robots are
made from their URDF. It holds private attributes, so that only the same program reads it
(`program_digest`).
"""

from __future__ import annotations

import hashlib
import importlib
import io
import pickle
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pinocchio as pin

from ..errors import DamagedFile, InertialIdError
from ..kinematics.robot_description import parse_urdf
from .wrench.identifier import Identifier

_PACKAGE = __name__.split(".", maxsplit=1)[0]
_ROOMS = ("detection", "estimate", "estimators", "findings", "geometry", "identification",
          "kinematics", "regression", "settings", "signals")
_OTHERS = {("builtins", "slice"), ("builtins", "set"), ("builtins", "frozenset"),
           ("builtins", "bytearray"), ("collections", "Counter"), ("collections", "OrderedDict"),
           ("collections", "deque"), ("numpy", "dtype"), ("numpy", "ndarray"),
           ("numpy._core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "scalar"),
           ("numpy._core.numeric", "_frombuffer"), ("numpy.core.multiarray", "_reconstruct"),
           ("numpy.core.multiarray", "scalar"), ("numpy.core.numeric", "_frombuffer")}
_LIBRARIES = ("numpy", "scipy", "pin")


def make_checkpoint(identifier: Identifier) -> bytes:
    """What the identifier has learnt, without the samples that wait; for the thread that owns it.

    Raises:
        InertialIdError: it cannot be kept at this moment.
    """
    file = io.BytesIO()
    try:
        _Pickler(file, identifier).dump(identifier.learnt())
    except (pickle.PicklingError, RuntimeError, TypeError) as error:
        raise InertialIdError(f"what was learnt cannot be kept: {error}") from error
    return file.getvalue()


def use_checkpoint(identifier: Identifier, data: bytes) -> None:
    """Go on from a checkpoint with an identifier of any past.

    Raises:
        DamagedFile: it is none.
    """
    try:
        learnt = _Unpickler(io.BytesIO(data)).load()
        if not isinstance(learnt, dict):
            raise DamagedFile("it is no checkpoint of an identifier")
        identifier.go_on_from(learnt)
    except DamagedFile:
        raise
    except Exception as error:  # damaged bytes can make anything fail
        raise DamagedFile(f"it cannot be read ({type(error).__name__}: {error})") from error


class _Pickler(pickle.Pickler):
    """Writes a robot's model as its URDF."""

    def __init__(self, file: io.BytesIO, identifier: Identifier) -> None:
        super().__init__(file, protocol=5)
        self._identifier = identifier

    def persistent_id(self, item: Any) -> str | None:
        if not isinstance(item, pin.Model):
            return None
        urdf = self._identifier.urdf_of(item)
        if urdf is None:
            raise pickle.PicklingError("another robot description is about to be used")
        return urdf


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` writes, and nothing else."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self._models: dict[str, pin.Model] = {}

    def persistent_load(self, urdf: Any) -> pin.Model:
        if not isinstance(urdf, str):
            raise DamagedFile("a robot's model in it is no text")
        if urdf not in self._models:
            self._models[urdf] = parse_urdf(urdf)
        return self._models[urdf]

    def find_class(self, module: str, name: str) -> Any:
        package, _, room = module.partition(".")
        if (module, name) in _OTHERS:
            return super().find_class(module, name)
        if package == _PACKAGE and room.split(".")[0] in _ROOMS and "." not in name:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise DamagedFile(f"{module}.{name} does not belong into it")


@cache
def program_digest() -> str:
    """SHA-256 of what the numbers depend on: this package's source, and versions of libraries."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for file in sorted(folder.rglob("*.py")):
        part = file.relative_to(folder).parts
        if part[0] not in ("apps", "ros"):
            digest.update("/".join(part).encode() + b"\0" + file.read_bytes())
    for name in _LIBRARIES:
        try:
            digest.update(f"{name} {version(name)}".encode())
        except PackageNotFoundError:  # as pinocchio of a ROS distribution
            continue
    return digest.hexdigest()
