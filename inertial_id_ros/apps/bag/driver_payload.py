# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload that a driver compensates in the wrench, as it states it in a recording."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import InertialIdError
from ...findings import Finding
from ...identify.beliefs import stated_by_driver
from ...identify.identifier import Identifier
from ...kinds import made
from ..recordings.recording import StatedPayload


class DriverPayload:
    """Tells an identifier of the payload, as soon as it can be placed in the sensor's frame."""

    def __init__(self, identifier: Identifier) -> None:
        self._identifier = identifier
        driver = identifier.settings.precompensated
        self._stated: StatedPayload | None = None
        self._waiting = "" if driver.source in ("settings", "none") else (
            f"none was stated on {driver.topic or 'the topic of the joint states'}")

    def update(self, payload: StatedPayload | None) -> None:
        """Pass a newly stated payload on; None: the last one again, if it could not be placed."""
        before, stated = self._stated, payload or self._stated
        if stated is None:
            return
        is_new = before is None or before.frame != stated.frame or not np.array_equal(
            before.values, stated.values)
        if not is_new and not self._waiting:
            return
        self._stated, identifier = stated, self._identifier
        try:
            phi = stated_by_driver(stated.values, stated.frame, identifier.settings,
                                   identifier.streams)
        except InertialIdError as error:
            self._waiting = str(error)
            return
        self._waiting = ""
        identifier.believe(replace(identifier.beliefs, compensated=phi))

    def findings(self) -> tuple[Finding, ...]:
        """Why the payload is not taken into account; empty: it is, or there is none."""
        return (made("payload_not_added", why=self._waiting),) if self._waiting else ()
