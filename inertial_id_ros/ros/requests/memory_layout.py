# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the fields of a message lie in the memory of its C structure.

The structure follows from the definition: members in the order of the fields, aligned as C does it;
strings and sequences are a pointer, a size and a capacity (rosidl_runtime_c, Humble and newer).
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

from rosidl_parser import definition

_BASIC = {
    "boolean": ctypes.c_bool, "octet": ctypes.c_uint8, "char": ctypes.c_uint8,
    "wchar": ctypes.c_uint16, "float": ctypes.c_float, "double": ctypes.c_double,
    "long double": ctypes.c_longdouble,
    **{f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}")
       for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class Run(ctypes.Structure):
    """A string or a sequence."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("capacity", ctypes.c_size_t))


class _Nothing(ctypes.Structure):
    """A message without fields, for which C needs one."""

    _fields_ = (("filler", ctypes.c_uint8),)


@cache
def structure(message: type) -> type[ctypes.Structure]:
    """The C structure of a message class, with the names of its fields.

    Raises:
        KeyError, AttributeError: the class is not that of a message as rosidl makes them.
    """
    fields = [(name, _type_of(kind)) for name, kind in fields_of(message)]
    if not fields:
        return _Nothing
    return type(message.__name__, (ctypes.Structure,), {"_fields_": fields})


@cache
def fields_of(message: type) -> list[tuple[str, Any]]:
    """Names and types (rosidl_parser.definition) of the fields of a message class."""
    return list(zip(message.get_fields_and_field_types(),  # type: ignore[attr-defined]
                    message.SLOT_TYPES, strict=True))  # type: ignore[attr-defined]


def message_class(kind: definition.NamespacedType) -> type:
    """The Python class of a message that is a field of another."""
    package = import_module(".".join(kind.namespaces))
    if not hasattr(package, kind.name):  # a part of an action, as Identify_Goal: beside the action
        package = import_module(getattr(package, kind.name.partition("_")[0]).__module__)
    return getattr(package, kind.name)  # type: ignore[no-any-return]


def _type_of(kind: Any) -> Any:
    if isinstance(kind, definition.BasicType):
        return _BASIC[kind.typename]
    if isinstance(kind, definition.Array):
        return _type_of(kind.value_type) * kind.size
    if isinstance(kind, definition.NamespacedType):
        return structure(message_class(kind))
    return Run
