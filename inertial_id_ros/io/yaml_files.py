# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""YAML written by users: plain values only, of limited size, and one line for every error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ..errors import DamagedFile, InvalidSetting
from ..limits import MAX_YAML_BYTES
from .files import read_text


class _Loader(yaml.SafeLoader):
    """Safe YAML that also reads 1e-6 as a number, which YAML 1.1 takes for text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"))


def parse_yaml(text: str) -> Any:
    """The values in a YAML text (raises DamagedFile: no YAML, or not accepted)."""
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, OverflowError,
            RecursionError) as error:  # also what looks like a date or a number, and is none
        lines = str(getattr(error, "problem", None) or error).splitlines() or [""]
        mark = getattr(error, "problem_mark", None)
        raise DamagedFile(f"it is not valid YAML: {lines[0][:200]}" + (
            f" at line {mark.line + 1}" if mark is not None else "")) from None


def read_yaml(path: Path, what: str) -> Any:
    """The values in a YAML file.

    Args:
        what: the file, with its name, as errors call it.

    Raises:
        InvalidSetting: not readable, no YAML, not accepted, or too large.
    """
    try:
        return parse_yaml(read_text(path, MAX_YAML_BYTES))
    except OSError as error:
        raise InvalidSetting(f"{what} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidSetting(f"{what} cannot be used: {error}") from error
