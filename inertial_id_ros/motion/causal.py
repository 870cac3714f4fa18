# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion now, from joint positions so far: a cubic with exponentially fading weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .motion import Array
from .robot import Chain

TAU, LONGEST = 0.02, 0.5  # s, of the memory; a gap after which it begins anew


class FadingMemory:
    """Value and derivatives now (Morrison 1969, ch. 13): x, v, a, jerk (4, k).

    Args:
        first: sample (k,).
    """

    def __init__(self, first: Array, tau: float = TAU) -> None:
        self.state, self._tau = np.zeros((4, len(first))), tau
        self.state[0] = first

    def update(self, sample: Array, step: float) -> None:
        """Take a sample (k,), so long after the one before [s]."""
        k = np.exp(-step / self._tau)
        gain = np.array([
            1.0 - k**4, (1.0 - k) ** 2 * (11.0 + 14.0 * k + 11.0 * k * k) / 6.0 / step,
            2.0 * (1.0 - k) ** 3 * (1.0 + k) / step**2, (1.0 - k) ** 4 / step**3])
        ahead = self.predict(step)
        self.state = ahead + gain[:, None] * (sample - ahead[0])

    def predict(self, step: float) -> Array:
        """x, v, a, jerk (4, k) after so long [s]."""
        x, v, a, j = self.state
        return np.stack([x + step * (v + step * (0.5 * a + step * j / 6.0)),
                         v + step * (a + 0.5 * step * j), a + step * j, j])


class MotionNow:
    """Motion of the sensor from joint states as they come.

    Args:
        chain: from the base to the sensor.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain, self._names = chain, chain.names
        self._model = _model_of(chain)
        self._data = self._model.createData()
        self._memory: FadingMemory | None = None
        self._stamp = 0

    def update(self, stamp: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take a joint state [ns; rad, m]; one that lacks a joint, or is late, changes nothing."""
        at = {name: k for k, name in enumerate(names)}
        if stamp <= self._stamp or not all(name in at for name in self._names):
            return
        sample = np.array([positions[at[name]] for name in self._names])
        step, self._stamp = 1e-9 * (stamp - self._stamp), stamp
        if self._memory is None or step > LONGEST:
            self._memory = FadingMemory(sample)
        else:
            self._memory.update(sample, step)

    def at(self, stamp: int) -> tuple[Array, Array, Array, Array] | None:
        """Acceleration less gravity, omega, alpha (3,) in sensor axes, and rotation (3, 3) to the
        base, at a stamp [ns]; None: there is no motion so near."""
        step = 1e-9 * (stamp - self._stamp)
        if self._memory is None or abs(step) > LONGEST:
            return None
        index = {name: k for k, name in enumerate(self._names)}
        q, dq, ddq = (row[[index[j.name] for j in self._chain.joints]]
                      for row in self._memory.predict(step)[:3])
        pin.forwardKinematics(self._model, self._data, q, dq, ddq)
        frame = self._model.nframes - 1
        turn = pin.updateFramePlacement(self._model, self._data, frame).rotation
        felt = pin.getFrameClassicalAcceleration(self._model, self._data, frame, pin.LOCAL)
        omega = pin.getFrameVelocity(self._model, self._data, frame, pin.LOCAL).angular
        proper = felt.linear + 9.81 * turn[2]
        return proper, np.array(omega), np.array(felt.angular), np.array(turn)


def _model_of(chain: Chain) -> pin.Model:
    """Pinocchio's model of a chain alone; mimic joints have been made joints of their own."""
    model, parent = pin.Model(), 0
    for k, joint in enumerate(chain.joints):
        kind = (pin.JointModelRevoluteUnaligned if joint.turns
                else pin.JointModelPrismaticUnaligned)(joint.axis)
        place = chain.root * joint.place if k == 0 else joint.place
        parent = model.addJoint(parent, kind, place, f"joint{k}")
    tip = chain.tip if chain.joints else chain.root * chain.tip
    model.addFrame(pin.Frame("sensor", parent, 0, tip, pin.FrameType.OP_FRAME))
    return model
