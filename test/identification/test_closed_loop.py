# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An admittance loop on the compensated wrench, closed through MuJoCo: a gantry with a wrist, which
follows exactly what it is told, presses its payload against a wall with 10 N."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from live_stream import Live
from synthetic import NOISE, START, texts

from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.settings import Settings

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow
STEP = 2e-3  # s from one sample to the next
MASS, WANTED = 2.4, 10.0  # kg of the payload; N
LEARN, REST, END = 6.0, 8.0, 20.0  # s: motion until LEARN, rest until REST, then the loop
VIRTUAL_MASS, DAMPING, FASTEST = 8.0, 120.0, 0.03  # kg, N s/m, m/s of the admittance
AXES = ("x", "y", "z", "roll", "pitch", "yaw")
# Direction of the wall from the payload, along the axes of the world.
WALLS = {"downwards": (0.0, 0.0, -1.0), "upwards": (0.0, 0.0, 1.0), "sideways": (1.0, 0.0, 0.0)}

CENTRE, RADIUS, GAP = np.array([0.01, -0.02, 0.08]), 0.06, 0.08  # m; of the payload, to the wall
_DELTA = 1e-4  # s
STIFFNESS, FRICTIONAL = 12e3, 150.0  # N/m, N s/m of the wall

_JOINT = '<joint name="{}" type="{}" axis="{}"/>'
_MODEL = """
<mujoco><option gravity="0 0 -9.81"/>
<worldbody>
  <body name="wrist">{joints}<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
    <body name="payload"><site name="sensor"/>
      <geom type="sphere" size="{radius}" pos="{centre}" mass="{mass}"/></body></body>
</worldbody>
<sensor><force site="sensor"/><torque site="sensor"/></sensor>
</mujoco>"""


def model_of() -> mujoco.MjModel:
    """The gantry with its payload."""
    axes = [" ".join("1" if k == i % 3 else "0" for k in range(3)) for i in range(6)]
    joints = "".join(_JOINT.format(name, "slide" if k < 3 else "hinge", axes[k])
                     for k, name in enumerate(AXES))
    return mujoco.MjModel.from_xml_string(_MODEL.format(
        joints=joints, mass=MASS, radius=RADIUS, centre=" ".join(map(str, CENTRE))))


def push_back(data: mujoco.MjData, body: int, direction: np.ndarray) -> float:
    """Apply the force of the wall to the payload, at its centre; gives its size [N]."""
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(data.model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
    depth = float(direction @ (data.xipos[body] - CENTRE)) - GAP
    force = max(STIFFNESS * depth + FRICTIONAL * float(direction @ velocity[3:]), 0.0)
    data.xfrc_applied[body, :3] = -force * direction if depth > 0.0 else 0.0
    return force if depth > 0.0 else 0.0


def urdf() -> str:
    """The same chain for the identifier; the sensor is `tool0`."""
    out, parent = '<robot name="gantry"><link name="base_link"/>', "base_link"
    for k, name in enumerate(AXES):
        child = "tool0" if k == 5 else f"after_{name}"
        axis = " ".join("1" if i == k % 3 else "0" for i in range(3))
        kind = "prismatic" if k < 3 else "revolute"
        out += (f'<link name="{child}"/><joint name="{name}" type="{kind}">'
                f'<parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
                '<limit lower="-3" upper="3" effort="1e4" velocity="10"/></joint>')
        parent = child
    return out + "</robot>"


def planned(t: float) -> np.ndarray:
    """Positions (6,) of the motion that tells the payload; it fades out before LEARN."""
    fade = np.clip((LEARN - t) / 1.0, 0.0, 1.0) * np.clip(t / 0.5, 0.0, 1.0)
    phase = np.array([0.0, 1.0, 2.0, 0.0, 1.3, 2.1])
    rate = np.array([2.1, 1.7, 2.5, 2.9, 2.3, 3.3])
    size = np.array([0.02, 0.02, 0.02, 0.6, 0.5, 0.5])
    smooth = fade * fade * (3.0 - 2.0 * fade)
    return smooth * size * np.sin(rate * t + phase)


@dataclass
class Seen:
    """What happened: times [s], forces on the wall [N], masses that were removed [kg], and modes,
    each (n,); whether another payload was believed to be there."""

    t: list[float] = field(default_factory=list)
    pressed: list[float] = field(default_factory=list)
    removed: list[float] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    changed: bool = False


def run(name: str, seed: int) -> Seen:
    """Learn in motion, rest, then close the loop."""
    direction = np.array(WALLS[name])
    model = model_of()
    body, pressed = model.body("payload").id, 0.0
    data, live = mujoco.MjData(model), Live(Identifier(Settings()))
    live.made.set_robot_description(urdf())
    rng, seen = np.random.default_rng(seed), Seen()
    offset, speed, change = 0.0, 0.0, 0.0  # of the loop, along the direction
    for k in range(round(END / STEP)):
        t = k * STEP
        before, now, after = (planned(t + d) for d in (-_DELTA, 0.0, _DELTA))
        data.qpos[:] = now
        data.qvel[:] = (after - before) / (2.0 * _DELTA)
        data.qacc[:] = (after - 2.0 * now + before) / _DELTA**2
        for moved, by in ((data.qpos, offset), (data.qvel, speed), (data.qacc, change)):
            moved[:3] += by * direction
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        pressed = push_back(data, body, direction)
        mujoco.mj_inverse(model, data)  # the arm follows what it is told
        stamp = START + round(t * 1e9)
        # MuJoCo tells the force of the payload on the wrist's child; the topic that on the sensor.
        wrench = -np.array(data.sensordata) + rng.normal(size=6) * NOISE
        live.now = t
        live.made.add_joint_state(stamp, list(AXES), data.qpos.tolist())
        live.live.add_joint_state(stamp, AXES, data.qpos.tolist())
        live.made.add_wrench(stamp, "tool0", wrench[:3].tolist(), wrench[3:].tolist())
        out = live.live.compensate(stamp, "tool0", wrench.tolist())
        live._work()
        if t < REST:
            continue
        change = -speed / STEP
        if out is not None:
            turn = np.array(data.site("sensor").xmat).reshape(3, 3)
            # The wall pushes back against the direction; the topic has it with its own sign.
            felt = float(-direction @ (turn @ np.array(out[:3])))
            change = (WANTED - felt - DAMPING * speed) / VIRTUAL_MASS
        faster = min(speed + change * STEP, FASTEST)  # an unknown wall is approached slowly
        change = (faster - speed) / STEP
        offset += STEP * faster
        speed = faster
        status = live.live.status()
        seen.t.append(t)
        seen.pressed.append(pressed)
        seen.modes.append(status.mode)
        seen.removed.append(float(status.load.phi[0]) if status.load else 0.0)
    seen.changed = "payload_changed" in texts(live.made)
    return seen


@pytest.mark.parametrize("name", WALLS)
@pytest.mark.parametrize("seed", [40300, 40301])
def test_ten_newtons_are_pressed_in_every_direction(name: str, seed: int) -> None:
    seen = run(name, seed)
    t, pressed = np.array(seen.t), np.array(seen.pressed)
    assert all(mode is Mode.PAYLOAD for mode in seen.modes) and not seen.changed
    np.testing.assert_allclose(seen.removed, MASS, atol=0.05)
    touched = t[np.argmax(pressed > 1.0)]
    assert touched < REST + 4.0
    steady = pressed[t > touched + 1.0]
    assert WANTED - 1.0 < steady.min() and steady.max() < WANTED + 1.0, (steady.min(), steady.max())
    assert pressed.max() < WANTED + 9.81 * MASS  # no jump above what was gripped
