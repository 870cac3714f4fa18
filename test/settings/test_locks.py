# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the settings lock from the start on."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.settings import Settings, iter_settings
from inertial_id_ros.settings.node import GROUPS, LOCKABLE, SecuritySettings, is_belief


def locked(services: str = "", parameters: str = "none") -> SecuritySettings:
    return Settings().replace({"security.lock_services": services,
                               "security.lock_parameters": parameters}).security


def test_parameters_are_locked_by_kind() -> None:
    names = [name for name, _, _ in iter_settings(Settings())]
    assert all(locked(parameters="all").locks_parameter(name) for name in names)
    some = locked(parameters="beliefs")
    assert some.locks_parameter("wrench.noise") and not some.locks_parameter("lmi.support")


def test_without_locks_nothing_is_locked() -> None:
    assert not locked().locked_services
    assert not any(locked().locks_parameter(name) for name, _, _ in iter_settings(Settings()))


@pytest.mark.parametrize(("given", "names"), [
    ("tare", {"tare"}), (" tare,reset ", {"tare", "reset"}),
    ("files", {"save", "set_tool"}),
    ("beliefs", {"identify", "set_shape", "set_tool", "tare", "untare", "reset"}),
    ("robot save", {"apply", "save"}),
    ("all", set(LOCKABLE))])
def test_services_are_locked_by_name_or_group(given: str, names: Iterable[str]) -> None:
    assert locked(given).locked_services == set(names)


def test_each_service_that_changes_something_but_the_life_cycle_is_in_a_group() -> None:
    in_groups = {name for group, names in GROUPS.items() if group != "all" for name in names}
    assert in_groups == set(LOCKABLE) - {"change_state"}


def test_a_service_that_there_is_not_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidSetting, match=r"security\.lock_services holds 'tere'; allowed: all"):
        locked("tare, tere")


def test_beliefs_are_all_but_how_the_estimate_is_computed() -> None:
    free = {name for name, _, spec in iter_settings(Settings())
            if spec.runtime and not is_belief(name)}
    assert {"estimator.method", "estimator.rate", "lmi.support", "entropic.gamma"} <= free
    assert not free & {"precompensated.mass", "wrench.noise", "estimator.max_mass",
                       "estimator.estimate_bias", "wrench.drift"}
    assert is_belief("use_sim_time") and is_belief("gravity.acceleration")


def test_a_node_that_nobody_could_start_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="could never start"):
        Settings().replace({"security.lock_services": "all", "lifecycle.autostart": False})
