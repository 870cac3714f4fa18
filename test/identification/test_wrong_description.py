# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description whose lengths are wrong by a factor, published in the middle of a run."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("mujoco")
from inertial_id_ros.api import Estimate, Identifier  # noqa: E402
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot  # noqa: E402
from inertial_id_ros.apps.simulation.settings import CobotSettings  # noqa: E402
from inertial_id_ros.estimate import UNOBSERVED  # noqa: E402
from inertial_id_ros.identification.verdict import MASS_SHARE  # noqa: E402

START, CHANGED = 1_700_000_000_000_000_000, 8.0  # ns; s


def longer(urdf: str, factor: float) -> str:
    """A robot description with other lengths; directions of axes stay as they are."""
    def scale(match: re.Match[str]) -> str:
        numbers = [factor * float(word) for word in match[2].split()]
        return match[1] + " ".join(map(str, numbers)) + '"'
    return re.sub(r'(<origin[^>]*xyz=")([^"]+)"', scale, urdf)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.75, 1.3])
@pytest.mark.parametrize("seed", [52100, 52101])
def test_no_wrong_mass_is_fresh_and_no_cable_is_invented(factor: float, seed: int) -> None:
    """The motion is fast: slow ones tell the payload by its weight alone, whatever the lengths."""
    cobot = SimulatedCobot(CobotSettings(speed=2.0, seed=seed, bias=(3.0, -2.0, 4.0, 0.1, 0.2, 0)))
    run, truth = cobot.run(20.0), cobot.payload.mass
    stamps = START + np.round(run.t * 1e9).astype(np.int64)
    made, other = Identifier(), longer(cobot.urdf, factor)
    assert other != cobot.urdf
    made.set_robot_description(cobot.urdf)
    said = set()
    for part in np.array_split(np.arange(len(stamps)), 80):
        if run.t[part[-1]] >= CHANGED:
            made.set_robot_description(other)
        made.add_joint_states(stamps[part], cobot.joint_names, run.q[part])
        made.add_wrenches(stamps[part], cobot.sensor_frame, run.wrench[part])
        outcome = made.solve()
        said |= {finding.name for finding in made.findings() if finding.level != "info"}
        if isinstance(outcome, Estimate) and not outcome.stale and outcome.verdict[0] > UNOBSERVED:
            error = abs(outcome.body.mass - truth)
            assert error < max(2.6 * outcome.sigma[0], MASS_SHARE * truth), run.t[part[-1]]
    assert "cable" not in said
