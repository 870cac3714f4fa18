# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Wrench, joint positions and configured payload out of one ``control_msgs/DynamicJointState``.

With empty settings ros2_control's joint_state_broadcaster publishes every state interface there,
by name of its joint or sensor, all under one stamp. Drivers that export the payload they were
configured with publish that, too: ``payload/mass``, ``payload/cog.x``, ...; newer ones of Universal
Robots also ``payload/inertia.ixx``, ..., about the centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..limits import MAX_JOINTS
from ..settings import DynamicJointStatesSettings

_WRENCH = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
_PAYLOAD = ("mass", "cog.x", "cog.y", "cog.z")
_INERTIA = tuple(f"inertia.{entry}" for entry in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
_POSITION = "position"
_NO_INERTIA = (0.0,) * 6
DEFINITIONS = {
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    "control_msgs/msg/DynamicJointState":
        "std_msgs/Header header\nstring[] joint_names\n"
        "control_msgs/InterfaceValue[] interface_values\n"}


class Parts(NamedTuple):
    """The parts of a message; None: it does not carry that part.

    Attributes:
        wrench: 6 numbers [N, N m]; names, positions: of the joints [rad or m].
        payload: mass [kg], centre of mass x, y, z [m] and inertia about it xx, xy, xz, yy, yz, zz
            [kg m^2], zeros where the driver does not publish it.
    """

    wrench: tuple[float, ...] | None
    names: tuple[str, ...]
    positions: tuple[float, ...]
    payload: tuple[float, ...] | None


class DynamicJointStates:
    """Splits messages into their parts, whose places are looked for once for each layout.

    Args:
        settings: names of sensor and payload.
    """

    def __init__(self, settings: DynamicJointStatesSettings) -> None:
        self._sensor, self._payload = settings.sensor, settings.payload
        self._layout: tuple[Any, ...] = ()
        self._wrench: list[tuple[int, int]] = []
        self._load: list[tuple[int, int]] = []
        self._inertia: list[tuple[int, int]] = []
        self._joints: list[tuple[str, int, int]] = []

    def split(self, names: Sequence[str], interfaces: Sequence[Any]) -> Parts:
        """The parts of a message; values that its lists do not hold are left out.

        Args:
            interfaces: entries with `interface_names` and `values`.
        """
        layout = (tuple(names), tuple(tuple(i.interface_names) for i in interfaces),
                  tuple(len(i.values) for i in interfaces))
        if layout != self._layout:
            self._learn(layout)
        joints = self._joints
        return Parts(
            tuple(float(interfaces[i].values[k]) for i, k in self._wrench) or None,
            tuple(name for name, _, _ in joints),
            tuple(float(interfaces[i].values[k]) for _, i, k in joints),
            self._payload_of(interfaces))

    def _payload_of(self, interfaces: Sequence[Any]) -> tuple[float, ...] | None:
        """The configured payload in a message; None where it carries none."""
        if not self._load:
            return None
        body, inertia = ([float(interfaces[i].values[k]) for i, k in places]
                         for places in (self._load, self._inertia))
        # A driver that publishes no inertia does not remove that of the payload from the wrench.
        return (*body, *(inertia or _NO_INERTIA))

    def _learn(self, layout: tuple[Any, ...]) -> None:
        """Find the places of all parts in messages of this layout."""
        names, interfaces, lengths = layout
        where = {(name, kind): (i, k)
                 for i, (name, kinds, n) in enumerate(zip(names, interfaces, lengths, strict=False))
                 if i < MAX_JOINTS for k, kind in enumerate(kinds[:n])}
        self._layout = layout
        self._wrench = _all_of(where, self._sensor, _WRENCH)
        self._load = _all_of(where, self._payload, _PAYLOAD)
        self._inertia = _all_of(where, self._payload, _INERTIA)
        self._joints = [(name, *at) for (name, kind), at in where.items() if kind == _POSITION]


def _all_of(where: dict[tuple[str, str], tuple[int, int]], name: str, kinds: Sequence[str]
            ) -> list[tuple[int, int]]:
    """Places of these interfaces of one joint or sensor; empty unless all are there."""
    found = [where.get((name, kind)) for kind in kinds]
    return [place for place in found if place is not None] if None not in found else []
