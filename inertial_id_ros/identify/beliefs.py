# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What user, driver or file say: replaced as a whole, and nothing is learnt into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InvalidData, NotEnoughData, UnknownFrame
from ..estimators import Estimator, create
from ..explain.fit import Region
from ..geometry.shape import Shape, shape_from_settings
from ..inertia import Array, phi_from_body, tensor_from_six, transform_phi
from ..io.inputs import StatedPayload
from ..model.history import History
from ..model.setup import Sheet, sheet_of
from ..model.tool import Tool, load_tool
from ..motion.source import Streams
from ..samples.ring import FEW, SECOND
from ..settings import Settings

TARE_REST = 5.0  # deviations of the noise: readings at rest vary less, beside their accuracy
OLD_TARE = 0.2  # deviation of an earlier run's tare, as share of that before any data


@dataclass(frozen=True, eq=False)
class Tare:
    """A zero that was measured without payload.

    Attributes:
        reading: (6,) [N, N m], sign of the topic; stamp_ns, frame_id: of it.
        conditions: settings under which it was measured (`tare_conditions`).
        is_old: True if an earlier run measured it: the sensor may have been zeroed since.
        refuted: why it is not used; empty: it is.
    """

    reading: Array
    stamp_ns: int
    frame_id: str
    conditions: Mapping[str, str] = field(default_factory=dict)
    is_old: bool = False
    refuted: str = ""


def tare_conditions(settings: Settings) -> dict[str, str]:
    """Settings on which the reading of a sensor without payload depends."""
    driver = settings.precompensated
    return {"wrench.topic": settings.wrench.topic, "wrench.convention": settings.wrench.convention,
            "precompensated.source": driver.source, "precompensated.mass": f"{driver.mass:g} kg"}


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is taken for true beside the settings.

    Attributes:
        tare: of the sensor; tool: what stays when the object is released.
        shape: of the object, or of all there is without a tool.
        compensated: phi (10,) of the payload that the driver compensates in the wrench; or zeros.
    """

    tare: Tare | None = None
    tool: Tool | None = None
    shape: Shape | None = None
    compensated: Array = field(default_factory=lambda: np.zeros(10))

    def sheet(self, settings: Settings, now_ns: int) -> Sheet:
        """Data sheet and mounting, with what the tare says of the zero at that time [ns]."""
        if self.tare is None or self.tare.refuted:
            return sheet_of(settings)
        wrench, minutes = settings.wrench, max(now_ns - self.tare.stamp_ns, 0) / (60 * SECOND)
        measured = (OLD_TARE * np.array(wrench.bias_sd) if self.tare.is_old else
                    np.hypot(wrench.noise, wrench.accuracy))
        sd = np.hypot(measured, np.sqrt(minutes) * np.array(wrench.drift))  # as it drifts
        return sheet_of(settings, (wrench.sign * self.tare.reading,
                                   np.repeat(np.minimum(sd, wrench.bias_sd), 3)))

    def with_stated(self, stated: StatedPayload, settings: Settings, streams: Streams) -> "Beliefs":
        """With what the driver states that it compensates; the settings may name its frame.

        Raises:
            InvalidData: no body has such a mass; UnknownFrame: the frame is not known, or moves.
        """
        values, frame = stated.values, (settings.precompensated.frame or stated.frame).lstrip("/")
        if not np.isfinite(values).all() or values[0] < 0.0:
            raise InvalidData(f"no body has what is stated ({values[0]:g} kg)")
        phi = phi_from_body(values[0], values[1:4], tensor_from_six(values[4:]))
        if frame not in ("", streams.frame):
            place, stamp = streams.tree().place(streams.frame, frame)
            if stamp is not None:
                raise UnknownFrame(f"its frame '{frame}' moves against the sensor")
            phi = transform_phi(phi, place.rotation, place.translation)
        return replace(self, compensated=phi * (values[0] > 0.0))

    def region(self, settings: Settings) -> Region | None:
        """Box in which the centre of mass must lie: that of the shape, or of the longest reach
        about the sensor. None if a tool or a compensated payload is part of the load."""
        if self.tool is not None or self.compensated.any():
            return None
        if self.shape is None:
            return Region(np.zeros(3), np.full(3, 2.0 * settings.shape.max_reach))
        return Region(self.shape.middle, self.shape.lengths)


@dataclass(frozen=True, eq=False)
class Basis:
    """What estimates follow from beside the samples; replaced as a whole.

    Attributes:
        frame: of the wrench; empty until known.
        estimator: of the settings (raises InertialIdError: it cannot be made, or lacks a shape).
    """

    settings: Settings
    beliefs: Beliefs
    frame: str = ""
    estimator: Estimator = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimator", create(self.settings))
        self.estimator.check(self.beliefs.shape)


def named_beliefs(settings: Settings) -> Beliefs:
    """The tool, the shape and the payload compensated by the driver that the settings name.

    Raises:
        InertialIdError: one cannot be used.
    """
    return Beliefs(tool=load_tool(settings.tool.file) if settings.tool.file else None,
                   shape=shape_from_settings(settings.shape),
                   compensated=compensated_by_driver(settings))


def compensated_by_driver(settings: Settings) -> Array:
    """phi (10,) of the payload that the settings say the driver compensates; or zeros."""
    driver = settings.precompensated
    if driver.source != "settings" or not driver.mass or settings.load.robot:
        return np.zeros(10)
    return phi_from_body(driver.mass, driver.com, tensor_from_six(driver.inertia))


def tare_of(history: History, settings: Settings, frame_id: str) -> Tare:
    """The mean of the readings of the newest second; no motion need be known.

    Raises:
        NotEnoughData: too few samples, or the sensor is not at rest.
    """
    stamps, rows = history.samples(history.newest - SECOND, history.newest + 1)
    if len(stamps) < FEW:
        raise NotEnoughData(f"tare needs {FEW} wrench samples within a second; "
                            f"{len(stamps)} were received")
    readings, sensor = settings.wrench.sign * rows, settings.wrench
    allowed = np.hypot(TARE_REST * np.array(sensor.noise), sensor.accuracy)
    if (times := float((readings.std(axis=0) / np.repeat(allowed, 3)).max())) > 1.0:
        raise NotEnoughData(f"tare needs a sensor at rest; its readings vary {times:.1f} times as "
                            "much as noise and accuracy in the settings allow")
    return Tare(readings.mean(axis=0), history.newest, frame_id, tare_conditions(settings))
