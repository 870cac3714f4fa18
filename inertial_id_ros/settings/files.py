# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of files: the folder that is written to, and folders that may be read."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import setting


@dataclass(frozen=True)
class StateSettings:
    directory: str = setting(
        "~/.ros/inertial_id_ros", "The only folder in which files are written: estimates, exports "
        "and tools that services write, and the state that outlives a run.")
    restore: bool = setting(
        True, "Begin with the tool, the bias and the estimate that an earlier run kept in "
        "state.directory.")


@dataclass(frozen=True)
class ResourcesSettings:
    folders: str = setting(
        "", "Folders, separated by ':', from which services may name file:// meshes, beside "
        "state.directory; package:// is always allowed.")


@dataclass(frozen=True)
class BlackBoxSettings:
    duration: float = setting(
        120.0, "How far back the inputs are kept in memory, to be written as a recording that "
        "'identify_bag' replays: by ~/save, or at an error. 0: not at all.",
        unit="s", low=0.0, high=3600.0)
    size: int = setting(
        64, "Most memory that they may need; the oldest are dropped.", unit="MB", low=1,
        high=10000)
    on_error: bool = setting(
        True, "Write them when a finding of level error appears, at most once in five minutes.")
    report: bool = setting(
        True, "Whether ~/save also makes a report from them, as one HTML file.", runtime=True)
    keep: int = setting(
        5, "Number of recordings written at errors that are kept; the oldest are removed.", low=1,
        high=1000)
