# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of files: the folder that is written to, and folders that may be read."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import setting


@dataclass(frozen=True)
class StateSettings:
    directory: str = setting(
        "~/.ros/inertial_id_ros", "The only folder in which files are written: estimates and tools "
        "that services save, and the state that outlives a run.")
    restore: bool = setting(
        True, "Begin with the tool, the bias and the estimate that an earlier run kept in "
        "state.directory.")


@dataclass(frozen=True)
class ResourcesSettings:
    folders: str = setting(
        "", "Folders, separated by ':', from which services may name file:// meshes, beside "
        "state.directory; package:// is always allowed.")
