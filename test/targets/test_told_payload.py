# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is told of an estimate, of its file and of a tool; words name the frame of its axes, and its
origin where that is another."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from robot_graph import BIAS, assert_close, in_sensor

from inertial_id_ros.errors import DamagedFile
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.targets.payload import TargetPayload, payload_of, payload_of_tool

PAYLOAD = TargetPayload("sensor",
                        phi_from_body(1.4, np.array([0.0, 0.0, 0.1078]), 0.01 * np.eye(3)),
                        IDENTIFIED, IDENTIFIED, IDENTIFIED, 0.0, None)


def test_a_payload_that_is_only_turned_names_both_frames() -> None:
    said = PAYLOAD.turned("tool0", np.eye(3)).describe()
    assert said.endswith("[0.0, 0.0, 107.8] mm from the origin of 'sensor' along the axes of "
                         "'tool0'")


def test_a_payload_that_is_placed_names_one_frame() -> None:
    said = PAYLOAD.placed("tool0", np.eye(3), np.array([0.0, 0.0, 0.04])).describe()
    assert said.endswith("[0.0, 0.0, 147.8] mm in 'tool0'")


PHI = in_sensor().phi
SD = np.r_[0.02, np.full(3, 0.003), np.full(6, 1e-5)]  # of phi
# Of a quotient: relative variances add.
WIDTH = 2.0 * math.sqrt(max(0.003**2 + (x * 0.02)**2 for x in in_sensor().com)) / PHI[0]


def estimate(doubted: str = "") -> Estimate:
    return Estimate(
        5, "sensor", PHI, np.diag(SD**2), BIAS, "lmi", "none", np.ones(10),
        (IDENTIFIED, IDENTIFIED, PRIOR_DOMINATED, *(IDENTIFIED,) * 6, UNOBSERVED), np.zeros(6),
        np.zeros(6), np.zeros(6), 500, 5.0, 10.0, 1e-4, 0.01, tool_apart=True, doubted=doubted)


def test_what_is_told_is_what_the_report_says() -> None:
    for doubted in ("", "the wrench froze"):
        made = estimate(doubted)
        told = payload_of(json.loads(json.dumps(made.to_json())), BIAS)
        assert told.bias is BIAS and not told.inertia_is_known
        assert (told.mass_verdict, told.com_verdict, told.inertia_verdict) == (
            made.verdict[0], PRIOR_DOMINATED, UNOBSERVED)
        np.testing.assert_allclose(told.phi, PHI, atol=1e-12)
        assert told.com_width == pytest.approx(math.inf if doubted else WIDTH, rel=1e-6)
    tool = phi_from_body(0.5, np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    both = payload_of(estimate().to_json(), None, tool)
    assert both.mass == pytest.approx(in_sensor().mass + 0.5)
    assert_close(both.com, (PHI[1:4] + [0.0, 0.0, 0.025]) / (PHI[0] + 0.5))


@pytest.mark.parametrize("change", [{"mass": -1.0}, {"mass": "heavy"}, {"com": [0.0]},
                                    {"verdict": ["sure"] * 10}, {"frame_id": 3}, {"mass": None}])
def test_a_damaged_file_of_an_estimate_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(DamagedFile):
        payload_of({**estimate().to_json(), **change})


def test_a_tool_alone_is_trusted_as_far_as_its_file_tells_it() -> None:
    told = payload_of_tool(Tool("sensor", PHI, np.diag(SD**2), 0), BIAS)
    assert (told.mass_verdict, told.com_verdict, told.inertia_verdict) == (
        IDENTIFIED, IDENTIFIED, IDENTIFIED)
    assert told.com_width == pytest.approx(WIDTH) and told.bias is BIAS
    for k, named in ((0, "mass_verdict"), (2, "com_verdict"), (9, "inertia_verdict")):
        wide = np.where(np.arange(10) == k, 0.5, SD)  # kg, kg m, kg m^2
        vague = payload_of_tool(Tool("sensor", PHI, np.diag(wide**2), 0), BIAS)
        assert getattr(vague, named) is UNOBSERVED
