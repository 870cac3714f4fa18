# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Definitions of message types, of which a recording holds those that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....errors import RecordingError
from ....geometry.resources import package_roots
from ..reader import standard_types

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore


def type_definitions(kind: str) -> Typestore:
    """Definitions that hold a type; of one that is not standard, the installed one.

    Raises:
        RecordingError: it is not installed.
    """
    store = standard_types()
    if kind in store.types:
        return store
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store, waiting = get_typestore(Stores.ROS2_JAZZY), [kind]
    while waiting:
        name = waiting.pop()
        package, _, plain = name.split("/")
        file = next((f for root in package_roots()
                     if (f := root / package / "msg" / f"{plain}.msg").is_file()), None)
        if file is None:
            raise RecordingError(f"the definition of {name} is not installed")
        found = get_types_from_msg(file.read_text(encoding="utf-8"), name)
        store.fielddefs.update(found)  # registered below, when all are there
        waiting += [inner for _, field in found[name][1] for inner in _names_in(field)
                    if inner not in store.fielddefs]
    ours = {n: f for n, f in store.fielddefs.items() if n not in store.types}
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(ours)
    return store


def _names_in(field: Any) -> Iterator[str]:
    """Names of the types of messages in the description of a field."""
    if isinstance(field, str) and "/" in field:
        yield field
    elif isinstance(field, tuple):
        for part in field:
            yield from _names_in(part)
