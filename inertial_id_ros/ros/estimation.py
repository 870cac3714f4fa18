# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate, and what makes it, as services see them: they never see the node as a whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InertialIdError, InvalidSetting, InvalidShape
from ..findings import Finding, FindingLog
from ..geometry.mesh import package_roots
from ..geometry.shape import Shape, shape_from_settings
from ..identification.make_identifier import AnyIdentifier
from ..settings import Settings
from .clocks import Watchdog
from .services.saving import StateKeeper
from .worker import Worker

_BETWEEN_SETTINGS = 0.5  # s between two changes of settings


class Configuration:
    """Gives settings and shape to the identifier; all methods belong to the worker.

    Args:
        settings, shape: with which the identifier was made.
    """

    def __init__(self, identifier: AnyIdentifier, settings: Settings, shape: Shape | None) -> None:
        self._identifier = identifier
        self._settings, self._shape = settings, shape
        self._method, self._held_shape = "", False

    def use_settings(self, settings: Settings) -> None:
        """Use other settings; the method of a goal stays until the goal ends."""
        self._settings = settings
        self._identifier.set_settings(_with_method(settings, self._method))

    def use_shape(self, shape: Shape | None) -> None:
        """Use another shape (raises InvalidShape while a goal holds its own)."""
        if self._held_shape:
            raise InvalidShape("a goal of ~/identify holds its own shape; cancel it, or wait for "
                               "its end")
        self._shape = shape
        self._identifier.set_shape(shape)

    def check(self, method: str, has_shape: bool) -> None:
        """Raise an InertialIdError where a goal's method, with a shape of its own or without, could
        not be used."""
        try:
            self._identifier.check_settings(_with_method(self._settings, method))
        except InvalidShape:
            if not has_shape:
                raise

    def hold_goal(self, method: str, shape: Shape | None) -> None:
        """Use a goal's method (empty: none of its own) and shape (None: the same)."""
        if shape is not None:
            self._held_shape = True
            self._identifier.set_shape(shape)
        if method:
            self._method = method
            self._identifier.set_settings(_with_method(self._settings, method))

    def release_goal(self) -> None:
        """Use the node's own method and shape again."""
        if self._held_shape:
            self._held_shape = False
            self._identifier.set_shape(self._shape)
        if self._method:
            self._method = ""
            self._identifier.set_settings(self._settings)


class Changes:
    """The newest settings and robot description, until the worker uses them; older ones that still
    wait are skipped.

    Args:
        findings: of the node; request: has the worker run the routine of a name.
        used: called in the worker after it has used one, which may have ended the estimate;
            described: called before with a description as it came.
    """

    def __init__(self, identifier: AnyIdentifier, configuration: Configuration,
                 findings: FindingLog, request: Callable[[str], bool],
                 used: Callable[[], None], described: Callable[[str], None]) -> None:
        self._identifier, self._configuration = identifier, configuration
        self._findings, self._request, self._used = findings, request, used
        self._described = described
        self._description: tuple[str, str | InertialIdError] | None = None
        self._settings: Settings | None = None
        self._requested = -_BETWEEN_SETTINGS  # steady time at which settings were used last [s]

    def keep_description(self, urdf: str, read: str | InertialIdError) -> None:
        """Have the worker use a description as it was read, or say why it cannot be; in the
        reader's thread."""
        self._description = urdf, read
        self._request("describe")

    def keep_settings(self, settings: Settings) -> None:
        """Have the worker use these settings soon."""
        self._settings = settings
        self.request()

    def request(self) -> None:
        """Have the worker use what waits; settings not just after others: a change may send the
        whole window through the pipeline again."""
        if (self._settings is not None
                and time.monotonic() - self._requested >= _BETWEEN_SETTINGS
                and self._request("configure")):
            self._requested = time.monotonic()
        if self._description is not None:
            self._request("describe")

    def use_settings(self) -> None:
        """Use the settings that wait; in the worker."""
        settings, self._settings = self._settings, None
        if settings is not None:
            self._configuration.use_settings(settings)
            self._used()

    def use_description(self) -> None:
        """Use the description that waits; in the worker."""
        waiting, self._description = self._description, None
        if waiting is None:
            return
        urdf, read = waiting
        self._described(urdf)
        try:
            if isinstance(read, InertialIdError):
                raise read
            self._identifier.set_robot_description(read)
            self._findings.clear("robot_description_invalid")
            self._used()
        except InertialIdError as error:
            self._findings.set("robot_description_invalid", "error", str(error))


def _with_method(settings: Settings, method: str) -> Settings:
    """The settings with a method; empty: their own."""
    return settings.replace({"estimator.method": method}) if method else settings


def described_shape(settings: Settings) -> Shape | None:
    """The shape that the settings describe (raises InvalidSetting, which names it)."""
    try:
        return shape_from_settings(settings.shape, package_roots())
    except InvalidShape as error:
        raise InvalidSetting(f"shape.type is '{settings.shape.type}', but {error}") from error


@dataclass(frozen=True)
class Estimation:
    """What a configured node estimates with.

    Attributes:
        identifier: owned by the worker, but for the methods that say otherwise.
        worker: the thread that owns it; configuration: the settings and the shape in use.
        watchdog: holds the newest outcome; state: what outlives the run.
        findings: of the node; all_findings: these and those of the identifier.
        solve_after_change: solves and publishes after a service has changed something;
            publish_if_forgotten: only where the estimate was forgotten. Both in the worker.
    """

    identifier: AnyIdentifier
    worker: Worker
    configuration: Configuration
    watchdog: Watchdog
    state: StateKeeper
    findings: FindingLog
    all_findings: Callable[[], tuple[Finding, ...]]
    solve_after_change: Callable[[], None]
    publish_if_forgotten: Callable[[], None]
