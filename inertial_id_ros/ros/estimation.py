# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate, and what makes it, as services see them: they never see the node as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InvalidSetting, InvalidShape
from ..findings import Finding, FindingLog
from ..geometry.resources import package_roots
from ..geometry.shape import Shape, shape_from_settings
from ..identification.make_identifier import AnyIdentifier
from ..settings import Settings
from .clocks import Watchdog
from .services.calls import CallLimit
from .services.saving import StateKeeper
from .worker import Worker


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
        flush_limit: on requests to forget the data.
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
    flush_limit: CallLimit
    solve_after_change: Callable[[], None]
    publish_if_forgotten: Callable[[], None]
