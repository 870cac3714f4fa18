# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An admittance loop at 1 kHz that drifts with a wrong payload, and not with the identified one.

    python examples/admittance.py --picture admittance.png

MuJoCo simulates a wrist that turns on a carriage, a payload, and the sensor between them. The loop
makes the carriage follow the hand like a mass with a damper, M dv/dt + D v = f, where f is the
force without bias and weight of the payload. What it gets wrong of the weight moves the arm, too.

How late the loop may be: in contact with a stiffness K, the force that returns is K / s of the
velocity, so that the open loop is K exp(-s T) / (s (M s + D)). By the Nyquist criterion it is
stable while T is shorter than the phase margin over the frequency of unit gain (Astrom and Murray,
Feedback Systems, chapter on frequency domain analysis): `longest_delay`; a delay below D / K is
always short enough. In free motion, what is left of the payload's inertia returns with the gain
m / M: the virtual mass M must be above it, whatever the delay (small gain; Keemink, van der Kooij,
Stienen 2018, Admittance control for physical human-robot interaction, on post-sensor inertia).
"""

import argparse
import math

import matplotlib.pyplot as plt
import mujoco
import numpy as np

from inertial_id_ros.api import Estimate, Identifier, Settings

RATE = 1000.0  # Hz
MASS, DAMPING = 8.0, 60.0  # of the loop: M [kg], D [N s/m]
STIFFNESS = 5000.0  # of a contact, for the bound of the delay [N/m]
TRUE_MASS, WRONG_MASS = 1.0, 0.7  # carried [kg], and believed before it was identified
COM = "0.02 0.01 0.08"  # of the payload, in the sensor's frame [m]
NOISE = np.repeat([0.1, 0.005], 3)  # of one sample [N, N m]
BIAS = np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.1])  # [N, N m]
RIG = f"""
<mujoco>
  <worldbody><body name="carriage">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.05" mass="5"/>
    <body><joint axis="1 0 0"/><joint axis="0 1 0"/><geom type="sphere" size="0.03" mass="1"/>
      <body name="payload"><site name="sensor"/>
        <inertial pos="{COM}" mass="{TRUE_MASS}" diaginertia="0.004 0.003 0.002"/></body>
    </body>
  </body></worldbody>
  <sensor><force site="sensor"/><torque site="sensor"/></sensor>
</mujoco>"""


class Rig:
    """The carriage moves as commanded; the sensor reads weight, inertial forces and the hand."""

    def __init__(self, seed: int) -> None:
        self.model = mujoco.MjModel.from_xml_string(RIG)
        self.data = mujoco.MjData(self.model)
        self._noise = np.random.default_rng(seed)

    def step(self, carriage: np.ndarray, wrist: np.ndarray, hand: np.ndarray) -> np.ndarray:
        """Move for a millisecond; returns the reading (6,) at its end.

        Args:
            carriage: velocity (3,) [m/s]; wrist: angles of its two joints (2,) [rad].
            hand: force on the payload, in the axes of the world (3,) [N].
        """
        data, velocity = self.data, self.data.qvel.copy()
        data.qvel[:3] = carriage
        data.qvel[3:] = (wrist - data.qpos[3:]) * RATE
        data.qacc[:] = (data.qvel - velocity) * RATE
        data.qpos[:] += data.qvel / RATE
        data.body("payload").xfrc_applied[:3] = hand
        mujoco.mj_inverse(self.model, data)
        return BIAS - data.sensordata + NOISE * self._noise.standard_normal(6)

    @property
    def rotation(self) -> np.ndarray:
        """From the axes of the sensor to those of the world (3, 3)."""
        return self.data.site("sensor").xmat.reshape(3, 3)

    @property
    def pose(self) -> np.ndarray:
        """Position and quaternion x, y, z, w of the sensor in the world (7,)."""
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self.data.site("sensor").xmat)
        return np.r_[self.data.site("sensor").xpos, quaternion[1:], quaternion[0]]


def identify(seconds: float = 8.0) -> Estimate:
    """Turn the wrist, and identify what it carries."""
    rig, still = Rig(seed=1), np.zeros(3)
    t = np.arange(round(seconds * RATE)) / RATE
    wrist = 0.6 * np.c_[1.0 - np.cos(1.5 * t), np.sin(2.0 * t) ** 2]
    readings, poses = zip(*[(rig.step(still, angles, still), rig.pose) for angles in wrist],
                          strict=True)
    identifier = Identifier(Settings().replace({"wrench.sensor": "ideal"}))
    stamps = np.round(1e9 * (1.0 + t)).astype(np.int64)
    identifier.add_transforms(stamps, "world", "sensor", np.array(poses))
    identifier.add_wrenches(stamps, "sensor", np.array(readings))
    result = identifier.solve()
    assert isinstance(result, Estimate), result
    return result


def tare(mass: float) -> np.ndarray:
    """The bias of the force that a robot finds at rest if it believes in this mass (3,) [N]."""
    rig, still = Rig(seed=2), np.zeros(3)
    rest = [rig.step(still, np.zeros(2), still)[:3] for _ in range(500)]
    return np.mean(rest, axis=0) - rig.rotation.T @ weight(mass)


def weight(mass: float) -> np.ndarray:
    """In the axes of the world (3,) [N]."""
    return np.array([0.0, 0.0, -9.81 * mass])


def admit(mass: float, bias: np.ndarray, seconds: float = 10.0) -> np.ndarray:
    """The way of the carriage (n, 3) [m] while the wrist turns and a hand pushes for a second.

    Args:
        mass: that is taken off the readings [kg]; bias: of the force (3,) [N].
    """
    rig, velocity, way = Rig(seed=3), np.zeros(3), []
    for t in np.arange(round(seconds * RATE)) / RATE:
        wrist = np.array([0.5 * (1.0 - math.cos(math.pi * min(t, 2.0) / 2.0)), 0.0])  # to 1 rad
        hand = np.array([10.0 if 5.0 <= t < 6.0 else 0.0, 0.0, 0.0])
        force = rig.step(velocity, wrist, hand)[:3] - bias
        outside = rig.rotation @ force - weight(mass)
        velocity = velocity + (outside - DAMPING * velocity) / MASS / RATE
        way.append(rig.data.qpos[:3].copy())
    return np.array(way)


def longest_delay(mass: float, damping: float, stiffness: float) -> float:
    """How late the loop may be in all in contact with a stiffness [N/m], in s: sensor, filters,
    computation and motion control together."""
    square = (math.sqrt(damping**4 + 4.0 * (mass * stiffness) ** 2) - damping**2) / 2.0 / mass**2
    frequency = math.sqrt(square)  # of unit gain [rad/s]
    return math.atan2(damping, mass * frequency) / frequency


def main() -> None:
    """Identify, run the loop with each payload, print, draw."""
    parser = argparse.ArgumentParser(description="Admittance with a wrong and the right payload.")
    parser.add_argument("--picture", default="admittance.png", help="PNG file to write")
    picture = parser.parse_args().picture
    found = identify()
    ways = {
        "exact": admit(TRUE_MASS, BIAS[:3]),
        "wrong": admit(WRONG_MASS, tare(WRONG_MASS)),
        "identified": admit(found.body.mass, found.bias[:3])}
    drifts = {name: np.linalg.norm(way - ways["exact"], axis=1) for name, way in ways.items()}
    print(f"wrong payload, {WRONG_MASS:.3f} kg:      drift {1e3 * drifts['wrong'][-1]:.1f} mm")
    print(f"identified payload, {found.body.mass:.3f} kg: drift "
          f"{1e3 * drifts['identified'][-1]:.1f} mm")
    print(f"in contact with {STIFFNESS:g} N/m, the loop is stable up to a delay of "
          f"{1e3 * longest_delay(MASS, DAMPING, STIFFNESS):.1f} ms")

    figure, axes = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
    for name in ("wrong", "identified"):
        axes.plot(np.arange(len(drifts[name])) / RATE, drifts[name], label=f"{name} payload")
    axes.set(xlabel="time [s]", ylabel="drift [m]")
    axes.legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
