# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What MuJoCo says of a motion that was made: speeds, contacts, heights, limits of joints."""

from typing import NamedTuple

import mujoco
import numpy as np

from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, load_description
from inertial_id_ros.inertia import Array

from .identification import RATE
from .task import Task

_EVERY = 5  # of the samples
_RIM = 16  # points on the rim of a cylinder


class Seen(NamedTuple):
    """See `trial.Row`."""

    speed: float
    contacts: int
    lowest: float
    joints: float


def look_at(q: Array, task: Task) -> Seen:
    """What a motion q (n, 6) at all samples did."""
    model, points = _model(task)
    data = mujoco.MjData(model)
    always = _always_touching(model, data)
    q = q[::_EVERY]
    before, speed, lowest, contacts = None, 0.0, np.inf, 0
    for data.qpos[:] in q:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        contacts += bool(_pairs(data, model) - always)
        now = np.concatenate([p @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]
                              for g, p in points.items()])
        lowest = min(lowest, float(now[:, 2].min()))
        if before is not None:
            step = np.sqrt(((now - before) ** 2).sum(axis=1).max())
            speed = max(speed, float(step) * RATE / _EVERY)
        before = now
    beyond = np.maximum(model.jnt_range[:, 0] - q, q - model.jnt_range[:, 1]).max()
    return Seen(speed, contacts, lowest, float(beyond))


def _model(task: Task) -> tuple[mujoco.MjModel, dict[int, Array]]:
    """The arm with the payload's box, and points (c, 3) on every shape that rises and falls."""
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = True
    low, high = task.box
    spec.body(SENSOR_FRAME).add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=0.5 * (high - low),
                                     pos=0.5 * (low + high))
    model = spec.compile()
    shoulder = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "shoulder_link")
    turn = 2.0 * np.pi * np.arange(_RIM) / _RIM
    points = {}
    for g in range(model.ngeom):
        if model.geom_bodyid[g] <= shoulder:
            continue
        size = model.geom_size[g]
        if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX:
            points[g] = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1)
                                  for z in (-1, 1)]) * size
        else:
            rim = size[0] * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
            points[g] = np.vstack([rim + [0.0, 0.0, size[1]], rim - [0.0, 0.0, size[1]]])
    return model, points


def _pairs(data: mujoco.MjData, model: mujoco.MjModel) -> set[frozenset[int]]:
    """Pairs of bodies that touch, neighbours left out (fixed frames count as their body)."""
    found = set()
    for contact in data.contact[:data.ncon]:
        if contact.dist > 0.0:
            continue
        bodies = [model.body_weldid[model.geom_bodyid[g]] for g in contact.geom]
        parents = [model.body_weldid[model.body_parentid[b]] for b in bodies]
        if bodies[0] not in (bodies[1], parents[1]) and bodies[1] != parents[0]:
            found.add(frozenset(int(b) for b in bodies))
    return found


def _always_touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[frozenset[int]]:
    rng = np.random.default_rng(1)
    found: set[frozenset[int]] | None = None
    for _ in range(100):
        data.qpos[:] = rng.uniform(-np.pi, np.pi, model.nq)
        mujoco.mj_forward(model, data)
        now = _pairs(data, model)
        found = now if found is None else found & now
    return found or set()
