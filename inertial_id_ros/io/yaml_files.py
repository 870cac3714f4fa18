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
    """Safe YAML that also reads 1e-6 as a number, which YAML 1.1 takes for text.

    Aliases are refused, as ROS does in parameter files: a few lines of them stand for more values
    than any memory holds, or for a group that holds itself.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not accepted", mark)
        return super().compose_node(parent, index)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"))


def parse_yaml(text: str) -> Any:
    """The values in a YAML text (raises DamagedFile: no YAML, or not accepted)."""
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise DamagedFile(f"it is not valid YAML: {_one_line(error)}") from None
    except RecursionError:
        raise DamagedFile("it is not valid YAML: it is nested too deeply") from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        # What looks like a date, an integer or binary data, and is not valid as such.
        raise DamagedFile(f"it is not valid YAML: {_one_line(error)}") from None


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


def _one_line(error: Exception) -> str:
    """An error without its code excerpt: the problem and where it is."""
    lines = str(getattr(error, "problem", None) or error).splitlines()
    problem = lines[0][:200] if lines else type(error).__name__
    mark = getattr(error, "problem_mark", None)
    return f"{problem} at line {mark.line + 1}" if mark is not None else problem
