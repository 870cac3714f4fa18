# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification from poses at rest, which tell mass and centre of mass."""

from __future__ import annotations

import numpy as np

from ...identify.beliefs import basis_of, named_beliefs
from ...identify.estimate import estimate
from ...kinds import finding_of, withdraw_doubted
from ...model.history import History
from ...motion.motion import BIN, BIN_NS, Motion
from ...settings import Settings
from ..recordings import PosesAtRest
from ..report.results import Identification, Snapshot

HELD, EVERY = 90, 100  # bins for which a pose is held; after which the next one follows
START = 170_000_000_000  # bin of the first one


def identify_poses(poses: PosesAtRest, settings: Settings) -> Identification:
    """The payload by the weight that a sensor read in poses at rest.

    The poses become a history that holds each for a while, so that all that is known of sensors and
    set-ups counts as for any motion.

    Raises:
        InertialIdError: a setting cannot be used.
    """
    n = len(poses.wrench)
    seconds = BIN * EVERY * (n + 1)
    settings = settings.replace({"buffer.window": seconds})
    number = START + (np.arange(n)[:, None] * EVERY + np.arange(HELD)).ravel()
    still = np.zeros((n * HELD, 3))
    history = History(seconds)
    history.append(
        Motion(number, np.repeat(poses.rotation, HELD, axis=0), still, still, still, still,
               np.empty((n * HELD, 0, 3, 3)), np.empty((n * HELD, 0, 6))),
        number * BIN_NS + BIN_NS // 2, settings.wrench.sign * np.repeat(poses.wrench, HELD, axis=0))
    beliefs = named_beliefs(settings)
    said = estimate(history.window(history.end, seconds), history.end,
                    basis_of(settings, beliefs, poses.frame))
    findings = tuple(finding_of(*given) for given in said.findings)
    outcome = withdraw_doubted(said.outcome, findings)
    return Identification(outcome, (Snapshot(0.0, outcome, findings),), findings, 0.0,
                          {"poses at rest": n}, ("each row is taken for a pose at rest, as there "
                                                 "is no time, or rows are far apart",),
                          beliefs.tool)
