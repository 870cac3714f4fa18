# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Saved estimates: the JSON that `~/save` and `identify_bag --json` write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidSetting, NotEnoughData
from ..estimate import VERDICT_WORDS, ParameterVerdict
from ..inertia import PARAMETERS, Array, Body, phi_from_body, report_jacobian
from ..io import fields
from ..io.files import read_report
from .payload import DEFAULT_LINK, Payload, describe_source, make_payload


def read_saved_estimate(path: Path, link: str = DEFAULT_LINK) -> Payload:
    """The payload of a saved estimate, on the frame of the sensor.

    Raises:
        InvalidSetting: the file cannot be read. InvalidData: it holds no estimate.
        NotEnoughData: it says why there was none, or its data do not tell mass or centre of mass.
    """
    try:
        tree = read_report(path)
    except OSError as error:
        raise InvalidSetting(f"saved estimate {path} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidData(f"saved estimate {path} cannot be used: {error}") from error
    try:
        return _payload_from_tree(tree, link)
    except InvalidData as error:
        raise InvalidData(f"saved estimate {path} cannot be used: {error}") from None


def _payload_from_tree(tree: dict[str, Any], link: str) -> Payload:
    """The payload of the tree of a report.

    Raises:
        InvalidData: it is no such report. NotEnoughData: as `read_saved_estimate`.
    """
    if not isinstance(tree.get("valid"), bool):
        raise InvalidData("it holds no estimate")
    if not tree["valid"]:
        said = tree.get("diagnostics")
        why = said[0] if isinstance(said, list) and said else "no reason is given"
        raise NotEnoughData(f"there was no estimate to save: {why}")
    body = Body(float(_numbers(tree, "mass", ())), _numbers(tree, "com", (3,)),
                _symmetric(tree, "inertia_com"))
    held = ["it is of an earlier run and was not confirmed"] if tree.get("restored") is True else []
    if tree.get("stale") is True and not held:
        held.append(f"it was stale when it was saved: {tree.get('stale_reason') or 'no new data'}")
    return make_payload(str(tree.get("frame_id", "")), body, _covariance(tree, body),
                        _verdict(tree), link, _source(tree), held, tree.get("tool_apart") is True)


def _covariance(tree: dict[str, Any], body: Body) -> Array:
    """Covariance (10, 10) of phi, from that of the parameters in the file (raises InvalidData)."""
    try:
        covariance = fields.covariance(tree, "covariance", PARAMETERS)
    except DamagedFile as error:
        raise InvalidData(str(error)) from error
    if not body.mass > 0.0:
        raise InvalidData("the estimate has parameters that no rigid body has")
    back = np.linalg.inv(report_jacobian(phi_from_body(*body)))
    return np.asarray(back @ covariance @ back.T)


def _numbers(tree: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape (raises InvalidData)."""
    try:
        numbers = np.asarray(tree.get(name), dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise InvalidData(f"its '{name}' has not {int(np.prod(shape))} finite numbers")
    return numbers


def _symmetric(tree: dict[str, Any], name: str) -> Array:
    """A symmetric tensor (3, 3) (raises InvalidData)."""
    tensor = _numbers(tree, name, (3, 3))
    if not np.abs(tensor - tensor.T).max() <= 1e-9 * np.abs(tensor).max():
        raise InvalidData(f"its '{name}' is not symmetric")
    return 0.5 * (tensor + tensor.T)


def _verdict(tree: dict[str, Any]) -> tuple[ParameterVerdict, ...]:
    """The verdict on each parameter (raises InvalidData)."""
    words = tree.get("verdict")
    if (not isinstance(words, list) or len(words) != PARAMETERS
            or not all(word in VERDICT_WORDS for word in words)):
        raise InvalidData(f"its 'verdict' has not {PARAMETERS} words out of "
                          + ", ".join(VERDICT_WORDS))
    return tuple(ParameterVerdict(VERDICT_WORDS.index(word)) for word in words)


def _source(tree: dict[str, Any]) -> str:
    """Where the estimate comes from (raises InvalidData)."""
    samples, stamp = tree.get("samples"), tree.get("stamp_ns")
    if type(samples) is not int or type(stamp) is not int:
        raise InvalidData("its 'samples' and 'stamp_ns' are no whole numbers")
    return describe_source(str(tree.get("method")), samples, stamp)
