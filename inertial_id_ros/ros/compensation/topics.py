# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""All that the node publishes of wrenches without their payload."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...findings import FindingLog
from ...identification.compensation.live_compensation import LiveCompensation
from ...identification.compensation.load_in_use import LoadInUse, Mode
from ...settings import Settings
from ...signals.input_topics import JOINT_STATES, TRANSFORMS, WRENCH, InputTopic
from ..services.lifecycle import ManagedNode
from .live_topic import LiveTopic
from .state_topic import StateTopic

_SILENT, _OLD = "compensation_silent", "compensation_old"  # findings


class CompensationTopics:
    """The topics of the compensated wrench.

    Attributes:
        taps: what takes the serialised messages of a topic, before all else does.
    """

    def __init__(self, node: ManagedNode, settings: Settings, findings: FindingLog) -> None:
        self._live, self._findings = LiveCompensation(settings), findings
        self.live = LiveTopic(node, self._live)
        self._state = StateTopic(node)
        self._when_old = settings.compensation.when_old
        self._lock, self._withheld = threading.Lock(), ""
        self.taps: dict[InputTopic, Callable[[bytes], Any]] = {
            WRENCH: self.live.take_wrench, JOINT_STATES: self.live.take_joint_state,
            TRANSFORMS: self.live.take_transforms}

    @property
    def rounds(self) -> int:
        """In every n-th round of the node samples are processed: in so many that a grip is seen
        soon where the compensated wrench is used, else in half as many, at half the cost."""
        return 2 if self._live.is_on else 4

    def use(self, use: LoadInUse) -> None:
        """Remove this load from now on, unless all is withheld; from any thread."""
        with self._lock:
            self._live.use(use.silenced(self._withheld) if self._withheld else use)

    def withhold(self, reason: str) -> None:
        """Publish nothing from now on for this reason, whatever load is given, as the wrench is
        about to change; empty: publish again by the load that is given next. From any thread."""
        with self._lock:
            self._withheld = reason
            if reason:
                self._live.use(LoadInUse(Mode.SILENT, reason))

    def configure(self, settings: Settings) -> None:
        """Use changed settings."""
        self._live.configure(settings.compensation)
        self._when_old = settings.compensation.when_old

    def look(self) -> None:
        """Begin or stop with the subscribers, show what is removed, and report it; in the
        executor's thread."""
        self.live.look()
        status = self._live.status()
        self._state.show(status)
        if status.mode is Mode.SILENT and self._live.is_on:
            self._findings.set(_SILENT, "info",
                               f"the compensated wrench is silent: {status.reason}")
        else:
            self._findings.clear(_SILENT)
        if status.old and self._when_old == "warn":
            self._findings.set(_OLD, "warning", f"the compensated wrench: {status.reason}")
        else:
            self._findings.clear(_OLD)

    def end(self, reason: str) -> None:
        """Publish nothing any more, and say why."""
        self._live.use(LoadInUse(Mode.SILENT, reason))
        self._state.show(self._live.status())

    def stop(self) -> None:
        """Stop computing; in the executor's thread."""
        self._live.end()
