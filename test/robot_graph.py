# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A graph of nodes that records what targets tell it, and a payload in a turned and shifted frame
whose numbers are plain sums over points."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scenes import Points, dotted
from scipy.spatial.transform import Rotation

from inertial_id_ros.estimate import IDENTIFIED, Estimate
from inertial_id_ros.settings import Settings
from inertial_id_ros.targets.drivers import load_target
from inertial_id_ros.targets.target import Target

TURN, SHIFT = Rotation.from_euler("xyz", [0.4, -0.7, 1.1]).as_matrix(), np.array([0.02, -0.05, 0.1])
BIAS = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
POINTS = Points(np.random.default_rng(4).uniform(0.05, 0.3, 12),  # of the payload, in sensor axes
                np.random.default_rng(3).uniform(-0.1, 0.1, (12, 3)))


def body(turn: np.ndarray = TURN, shift: np.ndarray = SHIFT) -> tuple[float, list[float],
                                                                    dict[str, float]]:
    """Mass, centre of mass and moments and products of inertia about it, in a frame."""
    mass, x, y, z, *six = POINTS._replace(places=POINTS.places @ turn.T + shift).report().tolist()
    return mass, [x, y, z], dict(zip(ENTRIES, six, strict=True))


def matrix(six: Mapping[str, float]) -> np.ndarray:
    """The tensor of moments and products by name."""
    return np.array([[six["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])


def in_sensor(bias: np.ndarray = BIAS, **changes: Any) -> Estimate:
    """The payload in the frame of the sensor."""
    made = Estimate(5, "sensor", POINTS.phi(), 1e-10 * np.eye(10), bias, "lmi", "none", np.ones(10),
                    (IDENTIFIED,) * 10, np.zeros(6), np.zeros(6), np.zeros(6), 500, 5.0, 10.0, 1e-4,
                    0.01)
    return replace(made, **changes)


class Graph:
    """Stands in for a RosClient.

    Attributes:
        calls: service and request; answers: of services, else one that means success.
        held: parameters of the only node.
    """

    def __init__(self, fields: Mapping[str, Any] | None = None,
                 messages: Mapping[str, Any] | None = None, **held: Any) -> None:
        self.fields, self.messages = dict(fields or {}), dict(messages or {})
        self.held = held
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Any] = {}
        self.kinds: dict[str, str] = {}

    def resolve(self, name: str, kind: str = "") -> str:
        return f"/{'remapped/' * (kind == 'topic')}{name.lstrip('/')}"

    def services(self) -> dict[str, str]:
        return self.kinds

    def topics(self) -> dict[str, str]:
        return {self.resolve(name, "topic"): "" for name in self.messages}

    def request_fields(self, service: str) -> dict[str, str]:
        return self.fields.get(self.resolve(service), {})

    def wait_for_message(self, kind: str, topic: str, latched: bool = False) -> Any:
        return self.messages.get(topic)

    def call(self, kind: str, service: str, request: dict[str, Any]) -> Any:
        self.calls.append((f"{kind} {service}", request))
        return self.answers.get(service, SimpleNamespace(success=True, ret=0, res=0, result=0))

    def parameters(self, node: str, prefixes: list[str]) -> dict[str, Any]:
        return {name: value for name, value in self.held.items() if name.startswith(
            tuple(prefixes))}

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        self.calls.append((node, dict(values)))
        self.held.update(values)


def load(name: str, graph: Graph | None = None, **settings: Any) -> Target:
    """A target that talks to a graph."""
    return load_target(name, graph or Graph(), Settings().replace(dotted(settings)))


def assert_close(got: Any, want: Any) -> None:
    """Names and texts are equal, and numbers to 1e-12."""
    if isinstance(want, Mapping):
        assert got.keys() == want.keys()
        for name, value in want.items():
            assert_close(got[name], value)
    elif isinstance(want, str | bool | int):
        assert got == want and type(got) is type(want)
    else:
        np.testing.assert_allclose(got, want, rtol=0.0, atol=1e-12)
