# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Values from outside, each checked before it is used: arrays that a caller gives (errors are
`InvalidData`), and the content of a parsed file (`DamagedFile`)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DamagedFile, InvalidData
from ..estimate import VERDICT_WORDS, ParameterVerdict
from ..inertia import PARAMETERS, Array, is_consistent

Kind = TypeVar("Kind")
_SHORTEST_PERIOD = 50_000  # ns, on average; stamps that are closer are in another unit
_FEW = 10  # steps: so few, of samples that arrive together, tell no unit
_ORTHOGONAL = 1e-3  # largest error of a rotation matrix that is accepted
_ASYMMETRY = 1e-6  # of correlations, and by how much they may not be positive semidefinite


def as_stamps(what: str, stamps: ArrayLike) -> NDArray[np.int64]:
    """Stamps (n,) [ns] as a copy (raises InvalidData where they are not whole numbers, not
    positive, not increasing, or in another unit); what: the samples, in messages."""
    given = np.asarray(stamps)
    if given.ndim != 1 or given.size and given.dtype.kind not in "iu":
        raise InvalidData(f"stamps of {what} have shape {given.shape} and type {given.dtype}; they "
                          "must be whole nanoseconds (n,), e.g. np.round(1e9 * seconds)"
                          ".astype(np.int64)")
    times = given.astype(np.int64)
    steps = np.diff(times, prepend=0)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0))
        raise InvalidData(f"stamps of {what} must be positive and increase; number {k} is "
                          f"{times[k]} ns, the one before {times[k] - steps[k]} ns")
    period = steps[1:].mean() if len(steps) > _FEW else _SHORTEST_PERIOD
    if period < _SHORTEST_PERIOD:  # most may arrive together
        raise InvalidData(f"stamps of {what} are {period:g} ns apart, and no sensor is that fast; "
                          "they must be in nanoseconds")
    return times


def as_rows(what: str, values: ArrayLike, shape: tuple[int, ...], finite: bool = False) -> Array:
    """Values of a shape as a copy of floats, perhaps NaN or infinite (raises InvalidData)."""
    try:
        given = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InvalidData(f"{what} cannot be made an array: {error}") from error
    if given.shape != shape or given.dtype.kind not in "iuf":
        raise InvalidData(f"{what} has shape {given.shape} and type {given.dtype}; real numbers "
                          f"of shape {shape} are needed")
    if finite and not np.isfinite(given).all():
        raise InvalidData(f"{what} holds numbers that are not finite")
    return given.astype(float)


def as_rotations(what: str, values: ArrayLike, count: int) -> Array:
    """Rotation matrices (count, 3, 3) as a copy (raises InvalidData where they are none)."""
    matrices = as_rows(what, values, (count, 3, 3), finite=True)
    off = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    wrong = (off > _ORTHOGONAL) | (np.linalg.det(matrices) < 0.0)
    if wrong.any():
        raise InvalidData(f"{what} must hold rotation matrices; number {int(np.argmax(wrong))} is "
                          "none")
    return matrices


def as_names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    """Names that differ from each other (raises InvalidData where they are none)."""
    given = tuple(names)
    if isinstance(names, str) or not given or not all(isinstance(name, str) for name in given) or (
            len(set(given)) < len(given)):
        raise InvalidData(f"{what} must be different names, at least one, not {names!r:.200}")
    return given


def value(content: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
    """A text, or a whole number such as a stamp [ns] (raises DamagedFile)."""
    found = content.get(name)
    if not isinstance(found, kind):
        raise DamagedFile(f"its '{name}' is {found!r:.100}; its type must be '{kind.__name__}'")
    return found


def numbers(content: Mapping[str, Any], name: str, *shape: int) -> Array:
    """An array of this shape of finite numbers (raises DamagedFile)."""
    try:
        value = np.array(content.get(name), dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.array(math.nan)
    if value.shape != shape or not np.isfinite(value).all():
        raise DamagedFile(f"its '{name}' does not hold {math.prod(shape)} finite numbers")
    return value


def body(content: Mapping[str, Any], name: str) -> Array:
    """phi (10,) of a body that can exist (raises DamagedFile)."""
    phi = numbers(content, name, PARAMETERS)
    if not is_consistent(phi):
        raise DamagedFile(f"no body has its '{name}' (mass {phi[0]:g} kg)")
    return phi


def covariance(content: Mapping[str, Any], name: str) -> Array:
    """A covariance (10, 10), positive semidefinite (raises DamagedFile)."""
    value = numbers(content, name, PARAMETERS, PARAMETERS)
    sd = np.sqrt(np.maximum(value.diagonal(), 1e-300))
    ratio = value / np.outer(sd, sd)
    if np.abs(ratio - ratio.T).max() > _ASYMMETRY or np.linalg.eigvalsh(ratio)[0] < -_ASYMMETRY:
        raise DamagedFile(f"its '{name}' is not symmetric and positive semidefinite")
    return value


def verdict(content: Mapping[str, Any], name: str) -> tuple[ParameterVerdict, ...]:
    """The verdict on each of the ten parameters, in words (raises DamagedFile)."""
    words = value(content, name, list)
    if len(words) != PARAMETERS or not all(word in VERDICT_WORDS for word in words):
        raise DamagedFile(f"its '{name}' has not {PARAMETERS} words out of "
                          + ", ".join(VERDICT_WORDS))
    return tuple(ParameterVerdict(VERDICT_WORDS.index(word)) for word in words)
