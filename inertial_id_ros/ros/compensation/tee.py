# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Wrenches and joint states that come in one message reach the live compensation, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...signals.inbox import Inbox
from .live_topic import LiveTopic


class Tee:
    """An inbox whose wrenches and joint states the live compensation takes before it."""

    def __init__(self, inbox: Inbox, live: LiveTopic) -> None:
        self._inbox, self._live = inbox, live

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inbox, name)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """As `Inbox.add_wrench`."""
        self._live.add_wrench(stamp_ns, frame_id, force, torque)
        self._inbox.add_wrench(stamp_ns, frame_id, force, torque)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str],
                        positions: Sequence[float]) -> None:
        """As `Inbox.add_joint_state`."""
        self._live.add_joint_state(stamp_ns, names, positions)
        self._inbox.add_joint_state(stamp_ns, names, positions)
