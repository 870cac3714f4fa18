# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command lines whose mistakes are errors of this package, not exits of argparse."""

from __future__ import annotations

import argparse
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
