# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload that a driver compensates in the wrench, as it states it in a recording."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import InertialIdError, UnknownFrame
from ...findings import Finding
from ...identify.identifier import Identifier
from ...inertia import phi_from_body, tensor_from_six, transform_phi
from ...kinds import made
from ...motion.lookup import Tree
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
        self._stated = stated
        try:
            self._believe(stated)
            self._waiting = ""
        except InertialIdError as error:
            self._waiting = str(error)

    def _believe(self, payload: StatedPayload) -> None:
        """Raises InertialIdError where it cannot be used yet."""
        identifier, values = self._identifier, payload.values
        if not np.isfinite(values).all() or values[0] < 0.0:
            raise InertialIdError(f"no body has what is stated ({values[0]:g} kg)")
        phi = phi_from_body(values[0], values[1:4], tensor_from_six(values[4:]))
        sensor = identifier.streams.frame
        frame = (identifier.settings.precompensated.frame or payload.frame).lstrip("/")
        if frame not in ("", sensor):
            place, stamp = Tree.of(identifier.streams).place(sensor, frame)
            if stamp is not None:
                raise UnknownFrame(f"its frame '{frame}' moves against the sensor")
            phi = transform_phi(phi, place.rotation, place.translation)
        identifier.believe(replace(identifier.beliefs, compensated=phi if values[0] else None))

    def findings(self) -> tuple[Finding, ...]:
        """Why the payload is not taken into account; empty: it is, or there is none."""
        return (made("payload_not_added", why=self._waiting),) if self._waiting else ()
