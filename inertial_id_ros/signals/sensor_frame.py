# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The frame of the sensor: as configured, or as the messages say."""

from __future__ import annotations

from ..findings import FindingLog


class SensorFrame:
    """The frame that the wrenches are in.

    Args:
        configured: name from the settings; empty: that of the first message which has one.

    Attributes:
        said: what the messages call it; empty until known.
    """

    def __init__(self, configured: str, findings: FindingLog) -> None:
        self._configured, self._seen = configured.lstrip("/"), ""
        self._findings, self.said = findings, ""
        self._compared = ""  # frame_id that was compared with the configured frame
        self._usual = self._configured or None  # frame_id that needs no further check

    @property
    def name(self) -> str:
        """Name of the frame; empty until known."""
        return self._configured or self._seen

    def mark_compared(self) -> None:
        """Note that the place of the messages' frame is known, and another finding tells it."""
        self._compared = self.said
        self._findings.clear("sensor_frame.replaced")

    def knows(self, frame_id: str) -> bool:
        """Whether this frame_id is that of the samples before."""
        return bool(self._configured) or frame_id.lstrip("/") == self._seen

    def accepts(self, frame_id: str) -> bool:
        """Whether a wrench with this frame_id is used; another frame is a finding."""
        if frame_id == self._usual:
            return True
        frame_id = self.said = frame_id.lstrip("/")
        if self._configured and frame_id not in ("", self._configured, self._compared):
            self._findings.set(
                "sensor_frame.replaced", "warning",
                f"wrench.sensor_frame is '{self._configured}', the messages say '{frame_id}'; if "
                "these differ in place or axes, the result is wrong")
        if not self._configured and frame_id != self._seen:
            if self._seen:
                self._findings.count("sensor_frame.changed", f"wrench samples in frame "
                                     f"'{frame_id}' instead of '{self._seen}' dropped")
                return False
            self._seen = self._usual = frame_id
        return True
