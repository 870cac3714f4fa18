# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate, and what makes it, as services see them: they never see the node as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..findings import Finding, FindingLog
from ..identification.make_identifier import AnyIdentifier
from .clocks import Watchdog
from .services.calls import CallLimit
from .services.saving import StateKeeper
from .settings.configuration import Configuration
from .worker import Worker


@dataclass(frozen=True)
class Estimation:
    """What a configured node estimates with.

    Attributes:
        identifier: owned by the worker, but for the methods that say otherwise.
        worker: the thread that owns it; configuration: the settings and the shape in use.
        watchdog: holds the newest outcome; state: what outlives the run.
        findings: of the node; all_findings: these and those of the identifier.
        flush_limit: on requests to forget the data.
        solve_after_change: solves and publishes after a service has changed something;
            publish_if_forgotten: only where the estimate was forgotten. Both in the worker.
    """

    identifier: AnyIdentifier
    worker: Worker
    configuration: Configuration
    watchdog: Watchdog
    state: StateKeeper
    findings: FindingLog
    all_findings: Callable[[], tuple[Finding, ...]]
    flush_limit: CallLimit
    solve_after_change: Callable[[], None]
    publish_if_forgotten: Callable[[], None]
