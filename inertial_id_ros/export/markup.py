# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Pieces of XML documents: names that are escaped, numbers that come back to the last bit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from ..errors import printable
from ..inertia import Body
from .payload import PayloadOnLink

TENSOR_ENTRIES = tuple((f"i{'xyz'[i]}{'xyz'[j]}", i, j) for i in range(3) for j in range(i, 3))


def number(value: float) -> str:
    """The shortest text from which exactly this number is read back."""
    return repr(float(value))


def numbers(values: Iterable[float]) -> str:
    """Numbers separated by spaces."""
    return " ".join(map(number, values))


def attribute(text: str) -> str:
    """A text in quotes, as the value of an attribute."""
    return quoteattr(text)


def comment(text: str) -> str:
    """A comment, in which XML allows no two hyphens in a row."""
    return f"<!-- {re.sub('-(?=-)', '- ', printable(text))} -->"


def comments(payload: PayloadOnLink) -> list[str]:
    """Comments that say where a payload comes from, and what to know about it."""
    return [comment(f"Payload in '{payload.parent}' by inertial_id_ros: {payload.source}"),
            *(comment(note) for note in payload.notes)]


def urdf_inertial(body: Body) -> list[str]:
    """The lines of a URDF's ``<inertial>`` element, along the axes of its link."""
    tensor = " ".join(f'{name}="{number(body.inertia_com[i, j])}"' for name, i, j in TENSOR_ENTRIES)
    return ["<inertial>", f'  <origin xyz="{numbers(body.com)}" rpy="0 0 0"/>',
            f'  <mass value="{number(body.mass)}"/>', f"  <inertia {tensor}/>", "</inertial>"]


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    """Lines moved to the right."""
    return ["  " * levels + line for line in lines]
