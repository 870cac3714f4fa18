"""YAML from outside: plain data only, bounded, and every failure with one sentence."""

from __future__ import annotations

import re
from typing import Any

import yaml

from ..errors import DamagedFile

_DEEPEST = 20


class _Loader(yaml.SafeLoader):
    """Safe YAML that also reads 1e-6 as a number, which YAML 1.1 takes for text.

    Aliases are refused: a few lines of them stand for more values than any memory holds.
    """

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise DamagedFile("it uses aliases (*name), which are not accepted")
        if self.depth == _DEEPEST:
            raise DamagedFile(f"it is nested more than {_DEEPEST} deep")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"),
                              list("-+0123456789"))


def load_yaml(text: str) -> Any:
    """The value of a YAML text (raises DamagedFile, with what is wrong and where)."""
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise DamagedFile(f"it is not valid YAML: {_one_line(error)}") from error
    except (ValueError, OverflowError, RecursionError) as error:  # dates, numbers, brackets
        raise DamagedFile("it is not valid YAML: "
                          f"{' '.join(str(error).split())[:200]}") from error


def _one_line(error: Exception) -> str:
    """A YAML error without its code excerpt: the problem and where it is."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    mark = getattr(error, "problem_mark", None)
    return f"{problem} at line {mark.line + 1}" if mark is not None else str(problem)
