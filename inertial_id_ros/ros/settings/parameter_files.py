# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""ROS parameter files, checked before ROS reads them.

The parser of ROS reports errors by lines of its own sources, and does not report files and names
that no node uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidSetting
from ...io.files import user_path
from ...io.yaml_files import read_yaml
from ...settings import Settings, flatten, iter_settings
from ...settings.spec import unknown_setting
from .parameters import PAYLOAD

_PARAMETERS = "ros__parameters"
_OF_EVERY_NODE = ("use_sim_time", "start_type_description_service", "qos_overrides.")


@dataclass(frozen=True)
class Section:
    """Part of a parameter file: a node, or a pattern of nodes, and the names of its parameters."""

    file: str
    node: str
    names: frozenset[str]

    @property
    def is_for_many(self) -> bool:
        """Whether it is for every node of a pattern, so that a node need not know all of it."""
        return "*" in self.node

    def is_for(self, node: str) -> bool:
        """Whether a node of this name (with its namespace) takes it."""
        parts = {"**": r"(/[^/]+)*", "*": r"/[^/]+"}
        words = self.node.strip("/").split("/")
        pattern = "".join(parts.get(word, "/" + re.escape(word)) for word in words)
        return re.fullmatch(pattern, node) is not None


def read_parameter_files(words: Sequence[str]) -> list[list[Section]]:
    """The sections of each parameter file among the ROS arguments of a command line.

    Raises:
        InvalidSetting: a file cannot be read, or is no parameter file; the text names it.
    """
    return [_read_sections(name) for name in _parameter_file_names(words)]


def check_parameter_files(node: str, given: Iterable[str],
                          files: Sequence[Sequence[Section]] | None) -> list[str]:
    """Sentences about what in the parameter files a node does not use.

    Args:
        node: its name with its namespace; given: names of all values that it was given.
        files: None: not known; then names outside of the groups of settings may be for other nodes.

    Raises:
        InvalidSetting: a name that is meant for this node alone and that it does not have, or that
            of a value which the node writes.
    """
    known = {name: value for name, value, _ in iter_settings(Settings())}
    groups = {n.split(".")[0] for n in known}
    texts = [
        f"parameter file '{file[0].file}' has nothing for {node}; it is for "
        f"{', '.join(sorted({s.node for s in file}))}"
        for file in files or () if file and not any(s.is_for(node) for s in file)]
    taken = [s for file in files or () for s in file if s.is_for(node)]
    for name in given:
        if name.startswith(PAYLOAD):
            raise InvalidSetting(f"{name} is written by the node and cannot be set")
        is_in_group = name.split(".")[0] in groups
        if name in known or name.startswith(_OF_EVERY_NODE) or (files is None and not is_in_group):
            continue
        places = [s for s in taken if name in s.names]
        own = [s for s in places if not s.is_for_many or is_in_group]
        if own or not places:
            where = f"parameter file '{own[0].file}': " if own else ""
            raise InvalidSetting(where + str(unknown_setting(name, known)))
        texts.append(f"parameter file '{places[0].file}' sets '{name}' for {places[0].node}; "
                     "this node has no such setting")
    return texts


def _parameter_file_names(words: Sequence[str]) -> Iterator[str]:
    """Values of ``--params-file`` between ``--ros-args`` and its end."""
    for_ros = False
    for word, following in zip(words, [*words, ""][1:], strict=True):
        for_ros = word == "--ros-args" or (for_ros and word != "--")
        if for_ros and word == "--params-file" and following:
            yield following


def _read_sections(name: str) -> list[Section]:
    """The sections of a parameter file (raises InvalidSetting)."""
    tree = read_yaml(user_path(name), f"parameter file '{name}'")
    return [] if tree is None else list(_find_sections(name, "", tree))


def _find_sections(file: str, node: str, tree: Any) -> Iterator[Section]:
    """The sections below a node, whose name is the path through the groups of a file."""
    if not isinstance(tree, Mapping):
        raise InvalidSetting(f"parameter file '{file}' must hold '{_PARAMETERS}' with names and "
                             f"values under {repr(node) if node else 'the name of a node'}")
    for key, inner in tree.items():
        if key != _PARAMETERS:
            yield from _find_sections(file, f"{node}/{str(key).strip('/')}", inner)
        elif inner is not None and not isinstance(inner, Mapping):
            raise InvalidSetting(f"parameter file '{file}': '{_PARAMETERS}' of '{node}' must hold "
                                 "names and values")
        else:
            yield Section(file, node, frozenset(flatten(inner or {})))
