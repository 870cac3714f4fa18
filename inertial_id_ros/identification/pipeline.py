"""What the pipelines from a wrist sensor and from joint torques have in common.

`add_*` only append to an inbox and may be called from another thread; everything else belongs to
one thread.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

import numpy as np

from ..detection.disturbance_detector import LOST, PAYLOAD, ZERO, Event
from ..detection.disturbance_findings import Disturbances
from ..estimate import Estimate
from ..findings import Finding, FindingLog
from ..inertia import Array
from ..kinematics.motion_source import MotionSelector
from ..settings import Settings
from ..signals import inbox
from .compensation import CompensatedWrenches

_BATCH = 2000  # samples taken at once: fewer than any ring holds, however many wait


class Pipeline(inbox.Intake, ABC):
    """Samples in, settled bins on; `solve` is the business of each kind."""

    _disturbances: Disturbances
    _handlers: inbox.Handlers

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._log = FindingLog()
        super().__init__(self._log)
        self._lock = threading.Lock()
        self._motion = MotionSelector(settings, self._log)
        self._begin_bin = 0  # earlier bins belong to another payload
        self._news = ""  # what flushed the buffer, until the next estimate
        self._last: Estimate | None = None
        self._finished = False

    # ---- what each kind has --------------------------------------------------------------------

    @property
    @abstractmethod
    def sensor_frame(self) -> str:
        """Frame in which the payload is given; empty until known."""

    @abstractmethod
    def _advance(self) -> CompensatedWrenches:
        """Move settled samples on."""

    @abstractmethod
    def _forget_rows(self) -> None:
        """Forget the window and its estimate."""

    @abstractmethod
    def _zero_moved(self) -> None:
        """The zero of what measures the load is another."""

    # ---- what they share -----------------------------------------------------------------------

    def advance(self) -> CompensatedWrenches:
        """Move settled samples into the buffer; returns the newly settled wrenches, compensated."""
        with self._lock:
            settled = []
            waiting = self._waiting
            for begin in range(0, max(waiting, 1), _BATCH):
                self._hand_over(min(_BATCH, waiting - begin), self._handlers)
                settled.append(self._advance())
            return CompensatedWrenches(np.concatenate([s.stamps_ns for s in settled]),
                                       np.concatenate([s.wrench for s in settled]),
                                       self.sensor_frame)

    def finish(self) -> CompensatedWrenches:
        """No sample will come any more: let the last ones settle; gives their wrenches."""
        self._finished = True
        return self.advance()

    def _obey(self, event: Event) -> None:
        """Another payload, or another zero: what came before is of no use."""
        news = self._disturbances.take(event)
        if event.kind not in (PAYLOAD, ZERO, LOST):
            return
        if event.kind == ZERO:
            self._zero_moved()
        self._news, self._begin_bin = news, event.row
        self._forget_rows()

    def _after_news(self, text: str) -> str:
        """A reason for no estimate, after what flushed the buffer."""
        return f"{self._news}; {text}" if self._news else text

    def _sentences(self) -> tuple[str, ...]:
        return tuple(f.text for f in self._log.all())

    def findings(self) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        with self._lock:
            return self._log.all()

    def lookup(self, target_frame: str, source_frame: str) -> tuple[Array, Array, int | None]:
        """Newest rotation (3, 3) and translation (3,) [m] with ``x_target = R x_source + t``, and
        their time [ns]; None where the frames are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        with self._lock:
            self._hand_over(min(self._waiting, _BATCH), self._handlers)
            return self._motion.lookup(target_frame.lstrip("/"), source_frame.lstrip("/"))
