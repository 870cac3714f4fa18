# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Values out of a parsed file, each checked for type, length and range before it is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DamagedFile
from ..estimate import VERDICT_WORDS, ParameterVerdict
from ..inertia import PARAMETERS, Array, is_consistent

_ASYMMETRY = 1e-6  # of a covariance, relative to its largest entry


def text(content: Mapping[str, Any], name: str) -> str:
    """A text of at most 500 characters (raises DamagedFile)."""
    value = content.get(name)
    if not isinstance(value, str) or len(value) > 500:
        raise DamagedFile(f"its '{name}' is no text")
    return value


def stamp(content: Mapping[str, Any], name: str) -> int:
    """Nanoseconds since the epoch (raises DamagedFile)."""
    value = content.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise DamagedFile(f"its '{name}' is no time in nanoseconds")
    return value


def numbers(content: Mapping[str, Any], name: str, *shape: int | None) -> Array:
    """An array of this shape, None for any length, of finite numbers (raises DamagedFile)."""
    try:
        value = np.array(content.get(name), dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.empty(0)
    fits = value.ndim == len(shape) and all(
        n in (None, length) for n, length in zip(shape, value.shape, strict=True))
    if not fits or not np.isfinite(value).all():
        size = " x ".join("any" if n is None else str(n) for n in shape) or "one"
        raise DamagedFile(f"its '{name}' does not hold {size} finite numbers")
    return value


def number(content: Mapping[str, Any], name: str, low: float = -math.inf) -> float:
    """A finite number, at least `low` (raises DamagedFile)."""
    value = float(numbers(content, name))
    if value < low:
        raise DamagedFile(f"its '{name}' is {value:g}; allowed: at least {low:g}")
    return value


def body(content: Mapping[str, Any], name: str) -> Array:
    """phi (10,) of a body that can exist (raises DamagedFile)."""
    phi = numbers(content, name, 10)
    if not is_consistent(phi):
        raise DamagedFile(f"no body has its '{name}' (mass {phi[0]:g} kg)")
    return phi


def covariance(content: Mapping[str, Any], name: str, size: int = 10) -> Array:
    """A covariance (size, size), positive semidefinite (raises DamagedFile)."""
    value = numbers(content, name, size, size)
    sd = np.sqrt(np.maximum(value.diagonal(), 1e-300))
    if not np.allclose(value, value.T, 0.0, _ASYMMETRY * np.abs(value).max()) or (
            np.linalg.eigvalsh(0.5 * (value + value.T) / np.outer(sd, sd))[0] < -_ASYMMETRY):
        raise DamagedFile(f"its '{name}' is not symmetric and positive semidefinite")
    return 0.5 * (value + value.T)


def verdict(content: Mapping[str, Any], name: str) -> tuple[ParameterVerdict, ...]:
    """The verdict on each of the ten parameters, in words (raises DamagedFile)."""
    words = content.get(name)
    if not isinstance(words, list) or len(words) != PARAMETERS or not all(
            word in VERDICT_WORDS for word in words):
        raise DamagedFile(f"its '{name}' has not {PARAMETERS} words out of "
                          + ", ".join(VERDICT_WORDS))
    return tuple(ParameterVerdict(VERDICT_WORDS.index(word)) for word in words)
