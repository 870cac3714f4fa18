# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command lines whose mistakes are errors of this package, not exits of argparse."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any, NoReturn

from .errors import InvalidSetting

VERSION = "0.2.0"  # as in package.xml


class Parser(argparse.ArgumentParser):
    """A parser that raises InvalidSetting in place of leaving the program, and knows --version."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.add_argument("--version", action="version", version=f"inertial_id_ros {VERSION}",
                          help="print the version of the package and leave")

    def error(self, message: str) -> NoReturn:
        """Raises InvalidSetting."""
        raise InvalidSetting(f"{message} (see {self.prog} --help)")


def add_motion_options(parser: argparse._ActionsContainer) -> None:
    """Add what a user says of a motion that a program makes (see `check_motion_options`)."""
    add = parser.add_argument
    add("--controller", default="", help="the trajectory controller, where there are several")
    add("--link-speed", type=float, default=0.25, metavar="M/S",
        help="of every link and the payload (default: %(default)s)")
    add("--silence", type=float, metavar="S",
        help="longest time without joint states while the arm moves, after which it is stopped "
        "(default: 8 of their periods, 0.07 to 0.1 s)")
    add("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
        help="lengths and centre [m], in axes of the description's root, of a box (table, wall) "
        "that nothing may touch; may be repeated")
    add("--floor", type=float, default=-math.inf, metavar="M",
        help="least height of the arm and the payload above the description's root (default: none)")


def check_motion_options(options: argparse.Namespace,
                         others: Iterable[tuple[str, float | None, float, float]] = ()) -> None:
    """Raise InvalidSetting where a number is not allowed.

    Args:
        others: further options: name, value (None: not given), least and largest.
    """
    for name, value, low, high in (("--link-speed", options.link_speed, 0.01, 2.0),
                                   ("--silence", options.silence, 0.05, 1.0), *others):
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            raise InvalidSetting(f"{name} is {value:g}; allowed: {low:g} to {high:g}")


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas, without the empty ones."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def numbers(what: str, text: str, wanted: str, count: int | None = None) -> tuple[float, ...]:
    """Numbers separated by commas.

    Args:
        what: option and value, for the message; wanted: what is expected, in words.
        count: how many there must be; None: any number.

    Raises:
        InvalidSetting: other text, or another number of them.
    """
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidSetting(f"{what}: expected {wanted}, separated by commas") from error
    if count is not None and len(values) != count:
        raise InvalidSetting(f"{what}: expected {wanted}; got {len(values)} numbers")
    return values
