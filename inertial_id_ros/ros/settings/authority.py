# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What clients may change while the node runs, and what they have changed."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import InertialIdError
from ...settings import Settings, iter_settings


class Locked(InertialIdError):
    """The settings allow nobody to do that while the node runs."""


def require_unlocked_parameters(settings: Settings, names: Iterable[str]) -> None:
    """Raise Locked where one of these parameters cannot be set any more."""
    for name in names:
        if settings.security.locks_parameter(name):
            raise Locked(f"{name} is locked, because security.lock_parameters is "
                         f"'{settings.security.lock_parameters}'; set it when the node starts")


def require_unlocked_service(settings: Settings, name: str) -> None:
    """Raise Locked where a service refuses every request."""
    if name in settings.security.locked_services:
        raise Locked(f"{name} is locked, because security.lock_services is "
                     f"'{settings.security.lock_services}'")


def describe_changes(start: Settings, now: Settings) -> list[str]:
    """The settings that are others than at the start, in words."""
    if now is start:
        return []
    before = {name: value for name, value, _ in iter_settings(start)}
    return [f"{name} is {value} ({before[name]} at the start)"
            for name, value, _ in iter_settings(now) if value != before[name]]
