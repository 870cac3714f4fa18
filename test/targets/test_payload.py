# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of an estimate, of its file and of a tool, as it is sent to a target."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from robot_graph import BIAS, SHIFT, TURN, assert_close, body, in_sensor

from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate
from inertial_id_ros.inertia import GROUPS, phi_from_body
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.targets.target import payload_of, payload_of_tool

PHI = phi_from_body(*in_sensor().body)
SD = np.r_[0.02, np.full(3, 0.003), np.full(6, 1e-5)]  # of phi
# Of a quotient: relative variances add.
WIDTH = 2.0 * math.sqrt(max(0.003**2 + (x * 0.02)**2 for x in in_sensor().body.com)) / PHI[0]


def test_a_payload_in_another_frame_is_that_of_the_points() -> None:
    placed = in_sensor().placed("tilted", TURN, SHIFT)
    assert_close(placed.body.com, body()[1])
    assert placed.describe().endswith("mm in 'tilted'")


def estimate(doubted: str = "") -> Estimate:
    return Estimate(
        5, "sensor", PHI, np.diag(SD**2), BIAS, "lmi", "none", np.ones(10),
        (IDENTIFIED, IDENTIFIED, PRIOR_DOMINATED, *(IDENTIFIED,) * 6, UNOBSERVED), np.zeros(6),
        np.zeros(6), np.zeros(6), 500, 5.0, 10.0, 1e-4, 0.01, tool_apart=True, doubted=doubted)


@pytest.mark.parametrize("doubted", ["", "the wrench froze"])
def test_the_payload_is_that_of_the_report(doubted: str) -> None:
    payload = payload_of(json.loads(json.dumps(estimate(doubted).to_json())), BIAS)
    assert payload.bias is BIAS and payload.known == {"mass", "com"}
    np.testing.assert_allclose(phi_from_body(*payload.body), PHI, atol=1e-12)
    assert payload.com_width == pytest.approx(math.inf if doubted else WIDTH, rel=1e-6)


def test_a_tool_is_added_or_sent_alone_as_far_as_it_is_known() -> None:
    def sent(sd: np.ndarray) -> object:
        return payload_of_tool(Tool("sensor", PHI, np.diag(sd**2), 0), BIAS)

    light = phi_from_body(0.5, np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    both = payload_of(estimate().to_json(), None, Tool("sensor", light, np.eye(10), 0)).body
    assert both.mass == pytest.approx(in_sensor().body.mass + 0.5)
    assert_close(both.com, (PHI[1:4] + [0.0, 0.0, 0.025]) / (PHI[0] + 0.5))
    alone = sent(SD)
    assert alone.known == set(GROUPS) and alone.bias is BIAS
    assert alone.com_width == pytest.approx(WIDTH)
    for k, name in ((0, "mass"), (2, "com"), (9, "inertia")):
        assert name not in sent(np.where(np.arange(10) == k, 0.5, SD)).known
