# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command lines whose mistakes are errors of this package, not exits of argparse."""

from __future__ import annotations

import argparse
import math
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


def add_motion_options(group: argparse._ArgumentGroup, frame: str) -> None:
    """Options of every program that moves an arm; `check_motion_options` checks them.

    Args:
        frame: that carries the payload, in words.
    """
    add = group.add_argument
    add("--controller", default="", help="the trajectory controller, where there are several")
    add("--link-speed", type=float, default=0.25, metavar="M/S",
        help="of every link and the payload (default: %(default)s)")
    add("--silence", type=float, metavar="S",
        help="longest time without joint states while the arm moves, after which it is stopped "
        "(default: a few of their periods)")
    add("--payload-box", default="0.2,0.2,0.2,0,0,0.1", metavar="SX,SY,SZ,CX,CY,CZ",
        help=f"lengths and centre [m], in axes of {frame}, of a box around payload or tool, kept "
        "clear of the arm (default: %(default)s)")
    add("--keep-out", metavar="SX,SY,SZ,CX,CY,CZ", action="append", default=[],
        help="lengths and centre [m], in axes of the description's root, of a box (table, wall) "
        "that nothing may touch; may be repeated")
    add("--floor", type=float, default=-math.inf, metavar="M",
        help="least height of arm and payload above the description's root (default: none)")
    add("--yes", "-y", action="store_true",
        help="agree to every question: the arm then moves without being asked for")


def check_motion_options(args: argparse.Namespace) -> None:
    """Check the numbers of `add_motion_options` (raises InvalidSetting)."""
    check_range("--link-speed", args.link_speed, 0.01, 2.0)
    check_range("--silence", args.silence, 0.05, 1.0)
    if math.isnan(args.floor):
        raise InvalidSetting("--floor is nan; it must be a height")


def check_range(option: str, value: float | None, low: float, high: float) -> None:
    """Check a number that was given (raises InvalidSetting)."""
    if value is not None and not low <= value <= high:  # false of what is not a number, too
        raise InvalidSetting(f"{option} is {value:g}; allowed: {low:g} to {high:g}")


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
