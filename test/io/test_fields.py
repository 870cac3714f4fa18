# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Values of a parsed file: what is of another type, length or range is refused, and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inertial_id_ros.errors import DamagedFile
from inertial_id_ros.estimate import VERDICT_WORDS, ParameterVerdict
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.io import fields

BODY = phi_from_body(1.5, np.array([0.01, 0.02, 0.03]), np.diag([2e-3, 3e-3, 4e-3]))
COVARIANCE = np.diag([4.0, 1e-6]) + 1e-4 * (1.0 - np.eye(2))


def covariance(content: dict[str, Any], name: str) -> Any:
    return fields.covariance(content, name, 2)


GOOD: list[tuple[Callable[..., Any], Any, Any]] = [
    (fields.text, "x" * 500, "x" * 500), (fields.stamp, 2**63 - 1, 2**63 - 1),
    (fields.number, 3, 3.0), (fields.body, BODY.tolist(), BODY),
    (covariance, COVARIANCE.tolist(), COVARIANCE),
    (fields.verdict, [*VERDICT_WORDS, *VERDICT_WORDS[:1] * 7],
     (*ParameterVerdict, *[ParameterVerdict(0)] * 7))]
NOT_POSITIVE = [[1.0, 2.0], [2.0, 1.0]]
BAD: list[tuple[Callable[..., Any], Any]] = [
    (fields.text, "x" * 501), (fields.text, 3), (fields.text, None), (fields.stamp, -1),
    (fields.stamp, 2**63), (fields.stamp, True), (fields.stamp, 1.0), (fields.number, [1.0]),
    (fields.number, "1 kg"), (fields.number, float("nan")), (fields.number, None),
    (fields.number, 10**400), (fields.body, BODY[:9].tolist()), (fields.body, [-1.0, *BODY[1:]]),
    (covariance, [[1.0, 0.5], [0.0, 1.0]]), (covariance, NOT_POSITIVE),
    (covariance, [[-1.0, 0.0], [0.0, 1.0]]), (covariance, [[1.0]]), (covariance, {"a": 1}),
    (fields.verdict, ["sure"] * 10), (fields.verdict, list(VERDICT_WORDS)),
    (fields.verdict, VERDICT_WORDS[0]), (fields.verdict, [[]] * 10)]


@pytest.mark.parametrize(("read", "value", "want"), GOOD)
def test_a_good_value_is_given(read: Callable[..., Any], value: object, want: object) -> None:
    np.testing.assert_array_equal(read({"it": value}, "it"), want)


@pytest.mark.parametrize(("read", "value"), BAD)
def test_any_other_value_is_named(read: Callable[..., Any], value: object) -> None:
    for content in ({"it": value}, {}):
        with pytest.raises(DamagedFile, match="'it'"):
            read(content, "it")


def test_arrays_have_their_shape_and_numbers_their_least() -> None:
    assert fields.numbers({"it": [[1, 2]] * 3}, "it", None, 2).shape == (3, 2)
    assert fields.number({"it": 0.0}, "it", 0.0) == 0.0
    for value, shape in (([1.0, 2.0], (3,)), ([[1.0]], (1,)), ([[1.0], [1.0, 2.0]], (2, None)),
                         ([np.inf], (1,))):
        with pytest.raises(DamagedFile, match="'it'"):
            fields.numbers({"it": value}, "it", *shape)
    with pytest.raises(DamagedFile, match="-0.1"):
        fields.number({"it": -0.1}, "it", 0.0)
