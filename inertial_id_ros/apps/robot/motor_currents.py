# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Torques of robots whose efforts are motor currents: gains that are given, or found from a pair of
recordings without and with a payload of known mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidSetting, NotEnoughData
from ...inertia import Array
from ...robot.drive_gains import gains_from_payload
from ...robot.joint_terms import JointTerms
from ...robot.model import RobotModel
from ...robot.recording import WINDOW, JointRecording, filter_recording
from .recording_files import NamedRecording


@dataclass(frozen=True)
class Currents:
    """What is known about the drives of a robot.

    Attributes:
        gains: (joints,) [N m/A]; empty: found from the pair.
        loaded: recording with a payload on the last link, of this mass [kg].
        hanging: the payload hangs from a cord or hook, and is not fixed.
    """

    gains: tuple[float, ...] = ()
    loaded: NamedRecording | None = None
    mass: float = 0.0
    hanging: bool = False


@dataclass(frozen=True)
class Drives:
    """Gains of a robot's drives.

    Attributes:
        gain: (joints,) [N m/A]; covariance: (joints, joints) of them, zero where they were given.
    """

    gain: Array
    covariance: Array

    @property
    def spread(self) -> Array:
        """Covariance (joints, joints) of the relative errors of the gains."""
        return np.asarray(self.covariance / np.outer(self.gain, self.gain))

    def torques(self, recording: JointRecording) -> JointRecording:
        """A recording of currents as one of torques."""
        return JointRecording(recording.stamps, recording.q, recording.effort * self.gain)


def find_drives(currents: Currents, model: RobotModel, unloaded: JointRecording, low_pass: float
                ) -> Drives:
    """Gains of all drives.

    Args:
        model: of the robot without payload; unloaded: its currents.

    Raises:
        InvalidSetting: a number of gains that is not the number of joints, or one not positive.
        NotEnoughData: the pair does not determine the gains.
    """
    count = len(model.joint_names)
    if currents.loaded is None:
        gain = np.asarray(currents.gains, dtype=float)
        if gain.shape != (count,) or not (np.isfinite(gain).all() and (gain > 0.0).all()):
            raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in currents.gains)} N m/A; "
                                 f"{count} positive numbers are needed, for "
                                 + ", ".join(model.joint_names))
        return Drives(gain, np.zeros((count, count)))
    with_drives = model.with_terms(JointTerms(drive_inertia=True))
    pair = [filter_recording(with_drives, recording, 0.0, WINDOW, low_pass)
            for recording in (unloaded, currents.loaded.of_joints(model.joint_names))]
    try:
        found = gains_from_payload(with_drives, pair[0], pair[1], currents.mass,
                                   currents.hanging)
    except NotEnoughData as error:
        raise NotEnoughData(f"motor currents: {error}; do both recordings move all joints, and "
                            "does only one hold the payload?") from error
    return Drives(found.gain, found.covariance)
