# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Service and action types whose requests are counted before they become Python objects.

rclpy makes an object of each entry of a request, in the executor's thread and before any callback
may look at it: a million points take 4 s and 400 MB there. The types of this module put a function
of their own in place of the generated one that makes those objects (`_CONVERT_TO_PY`). It looks at
the C structure first: points and triangles become one array, and of what is too long only the
number of entries is taken. A bounded sequence in the definition would not do, for the generated
code that receives a message does not check the bound, and `shape_msgs/Mesh` has none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple, overload

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterValue
from rclpy.type_support import check_for_type_support
from rosidl_parser import definition

from ...limits import MAX_REQUEST_ENTRIES, MAX_REQUEST_FACES, MAX_REQUEST_POINTS
from .memory_layout import Run, fields_of, message_class, structure

_MOST_ROWS = max(MAX_REQUEST_POINTS, MAX_REQUEST_FACES)
_NUMBERS_AS_ENTRY = 40  # numbers of a sequence that cost as much as one message or string
_ToPython = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)
_FromPython = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.py_object, ctypes.c_void_p)
_Create, _Destroy = ctypes.PYFUNCTYPE(ctypes.c_void_p), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_TooLong = Callable[[int], None]  # gets about how many entries a request has that is taken as empty


class Rows(Sequence[Any]):
    """Messages of three numbers each in place of a list of them; of too many only the number.

    Attributes:
        rows: (n, 3), or None where there are too many.
    """

    def __init__(self, count: int, rows: np.ndarray | None) -> None:
        self._count, self.rows = count, rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if self.rows is None:
            raise IndexError(f"{self._count} entries are too many to be kept")
        return self.rows[index]


class _Place(NamedTuple):
    """A sequence in a message: the fields that lead to it, and what its entries are."""

    path: tuple[str, ...]
    entry: Any  # rosidl_parser.definition

    def find(self, held: Any) -> Any:
        """The sequence in a C structure."""
        return reduce(getattr, self.path, held)

    def replace(self, made: Any, value: Any) -> None:
        """Put another value into a Python message, past the check that it is a list of messages."""
        setattr(reduce(getattr, self.path[:-1], made), f"_{self.path[-1]}", value)


def counted_service(kind: Any, too_long: _TooLong) -> Any:
    """A service type as rclpy takes it, whose requests are counted.

    Args:
        too_long: called before a request that is too long reaches its callback, which gets it
            without the entries of its sequences.
    """
    return type(kind)(kind.__name__, (kind,), {"Request": _counted(kind.Request, too_long)})


def counted_action(kind: Any, too_long: _TooLong) -> Any:
    """An action type whose goals are counted, as `counted_service`."""
    impl = type("Impl", (kind.Impl,), {
        "SendGoalService": counted_service(kind.Impl.SendGoalService, too_long)})
    return type(kind)(kind.__name__, (kind,), {"Impl": impl})


def _counted(message: Any, too_long: _TooLong) -> Any:
    """A class that rclpy takes for a message class, and fills as this module says; the class itself
    where messages lie in memory in another way than is known here."""
    if not _layout_is_known():
        return message
    check_for_type_support(message)
    generated = type(message)
    convert = _ToPython(_Conversion(message, too_long))
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    counting = type(generated.__name__, (generated,), {
        "_CONVERT_TO_PY": capsule(ctypes.cast(convert, ctypes.c_void_p), None, None),
        "kept": convert})  # as long as the address of the function may be called
    return counting(message.__name__, (message,), {"__slots__": ()})


class _Conversion:
    """Makes a Python message of a C structure; called with its address."""

    def __init__(self, message: Any, too_long: _TooLong) -> None:
        self._message, self._too_long = message, too_long
        self._generated = _ToPython(_pointer(type(message)._CONVERT_TO_PY))
        places = list(_sequences(message))
        self._rows = [place for place in places if _row(place.entry)]
        self._others = [place for place in places if not _row(place.entry)]

    def __call__(self, address: int) -> Any:
        held = structure(self._message).from_address(address)
        hidden = list(self._rows)
        if self._others and (count := _count(self._message, held)) > MAX_REQUEST_ENTRIES:
            self._too_long(count)
            hidden += self._others
        rows = [(place, _take(place.find(held), place.entry)) for place in self._rows]
        runs = [(run, run.size) for run in (place.find(held) for place in hidden)]
        for run, _ in runs:
            run.size = 0  # the generated function makes no objects of these
        try:
            made = self._generated(address)
        finally:
            for run, size in runs:
                run.size = size
        for place, taken in rows:
            place.replace(made, taken)
        return made


def _sequences(message: type, path: tuple[str, ...] = ()) -> Iterator[_Place]:
    """The sequences of a message and of the messages in it."""
    for name, kind in fields_of(message):
        if isinstance(kind, definition.NamespacedType):
            yield from _sequences(message_class(kind), (*path, name))
        elif isinstance(kind, definition.AbstractSequence):
            yield _Place((*path, name), kind.value_type)


def _row(entry: Any) -> Any:
    """The number type (ctypes) of entries that consist of three numbers; None for others."""
    if not isinstance(entry, definition.NamespacedType):
        return None
    kinds: list[Any] = []
    for _, kind in fields_of(message_class(entry)):
        kinds += [kind.value_type] * kind.size if isinstance(kind, definition.Array) else [kind]
    if len(kinds) != 3 or len({getattr(kind, "typename", None) for kind in kinds}) != 1:
        return None
    first = structure(message_class(entry))._fields_[0][1]
    return getattr(first, "_type_", None) if len(fields_of(message_class(entry))) == 1 else first


def _take(run: Run, entry: Any) -> Rows:
    """The entries of a sequence as rows."""
    if run.size == 0 or run.size > _MOST_ROWS:
        return Rows(run.size, np.zeros((0, 3)) if run.size == 0 else None)
    numbers = (_row(entry) * 3 * run.size).from_address(run.data)
    return Rows(run.size, np.ctypeslib.as_array(numbers).copy())


def _count(message: type, held: Any) -> int:
    """Entries of all sequences but rows, in each other too; no longer exact beyond the limit."""
    count = 0
    for name, kind in fields_of(message):
        if isinstance(kind, definition.NamespacedType):
            count += _count(message_class(kind), getattr(held, name))
        elif isinstance(kind, definition.AbstractSequence) and not _row(kind.value_type):
            count += _count_in(kind.value_type, getattr(held, name), MAX_REQUEST_ENTRIES - count)
    return count


def _count_in(entry: Any, run: Run, left: int) -> int:
    """As `_count`, of one sequence; its entries are looked into as long as some are left."""
    if isinstance(entry, definition.BasicType):
        return run.size // _NUMBERS_AS_ENTRY
    count = run.size
    if isinstance(entry, definition.NamespacedType) and 0 < count <= left:
        kind = message_class(entry)
        if next(_sequences(kind), None):
            for held in (structure(kind) * run.size).from_address(run.data):
                count += _count(kind, held)
                if count > left:
                    break
    return count


@lru_cache(maxsize=1)
def _layout_is_known() -> bool:
    """Whether messages lie in memory as `memory_layout` says, tried with one of most kinds."""
    probe = Parameter(name="abc", value=ParameterValue(
        type=8, bool_value=True, integer_value=-5, double_value=0.25, string_value="wxyz",
        byte_array_value=[b"a"], integer_array_value=[7, 8], double_array_value=[1.5, 2.5, 3.5],
        string_array_value=["p", "qr"]))
    try:
        check_for_type_support(Parameter)
        made = type(Parameter)
        address = _Create(_pointer(made._CREATE_ROS_MESSAGE))()
        try:
            _FromPython(_pointer(made._CONVERT_FROM_PY))(probe, address)
            held = structure(Parameter).from_address(address)
            value = held.value
            sizes = [run.size for run in (
                held.name, value.string_value, value.byte_array_value, value.bool_array_value,
                value.integer_array_value, value.double_array_value, value.string_array_value)]
            return (sizes == [3, 4, 1, 0, 2, 3, 2]
                    and (value.type, value.bool_value, value.integer_value, value.double_value)
                    == (8, True, -5, 0.25)
                    and list((ctypes.c_double * 3).from_address(value.double_array_value.data))
                    == [1.5, 2.5, 3.5])
        finally:
            _Destroy(_pointer(made._DESTROY_ROS_MESSAGE))(address)
    except (AttributeError, KeyError, ValueError):
        return False


def _pointer(capsule: Any) -> int:
    """The address in a capsule that rosidl made."""
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name(capsule)))
