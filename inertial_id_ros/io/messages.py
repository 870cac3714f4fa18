# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages of the topics with high rates: decoded, checked, passed on as samples.

One ``control_msgs/DynamicJointState`` may hold wrench, joint positions and configured payload: with
empty settings ros2_control's joint_state_broadcaster publishes every state interface there,
by name of its joint or sensor, all under one stamp. Drivers that export the payload they were
configured with publish that, too: ``payload/mass``, ``payload/cog.x``, ...; newer ones of Universal
Robots also ``payload/inertia.ixx``, ..., about the centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..findings import FindingLog
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from ..settings import DynamicJointStatesSettings
from . import cdr

Sink = Callable[..., Any]  # takes one sample
Report = Callable[[str, str, str], None]  # takes name, level and text of a finding


class MessageKind(NamedTuple):
    """How messages of one kind become samples.

    Attributes:
        name: of the stream, in the names of findings; what: messages of it are called.
        decode: makes the message of its bytes (raises ValueError).
        samples: the samples of a message, each as the arguments of a sink.
        size: number of entries of a message, of which at most `limit` are accepted.
    """

    name: str
    what: str
    decode: Callable[[bytes], Any]
    samples: Callable[[Any], Iterable[Iterable[Any]]]
    size: Callable[[Any], int]
    limit: int

    def pass_on(self, message: Any, sink: Sink, report: Report) -> bool:
        """Give each sample of a decoded message to a sink; False, and none is given, where the
        message is too large, which is reported."""
        if not has_allowed_size(self.name, self.what, self.size(message), self.limit, report):
            return False
        for sample in self.samples(message):
            sink(*sample)
        return True


def has_allowed_size(stream: str, what: str, size: int, limit: int, report: Report) -> bool:
    """Whether a message may be used; where not, that is reported.

    Args:
        stream: in the finding's name; what: such messages are called; size: its number of entries.
    """
    if size <= limit:
        return True
    report(f"message_too_large.{stream}", "error", f"{what} messages with {size} entries dropped; "
           f"at most {limit} are accepted")
    return False


def stamp_ns(stamp: Any) -> int:
    """Nanoseconds since the epoch of a builtin_interfaces/Time."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def take_serialized(kind: MessageKind, data: bytes, sink: Sink, log: FindingLog) -> None:
    """Give the samples of a serialised message to a sink; one that is damaged becomes a finding."""
    try:
        message = kind.decode(data)
    except ValueError as error:
        log.count(f"message_malformed.{kind.name}", f"{kind.what} messages that cannot be decoded "
                  f"dropped, the last because of {error}")
        return
    kind.pass_on(message, sink, log.set)


WRENCH = MessageKind("wrench", "wrench", cdr.wrench, lambda wrench: [wrench], lambda wrench: 1, 1)
JOINT_STATE = MessageKind("joints", "joint state", cdr.joint_state, lambda state: [state],
                          lambda state: len(state.names), MAX_JOINTS)
TRANSFORMS = MessageKind("transforms", "transform", cdr.transforms, lambda edges: edges, len,
                         MAX_TRANSFORMS)
STATIC_TRANSFORMS = MessageKind(  # their stamps mean nothing
    "static_transforms", "static transform", cdr.transforms,
    lambda edges: [edge[1:] for edge in edges], len,
    MAX_TRANSFORMS)


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
