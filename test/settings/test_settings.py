# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings: every kind of bad value is refused in words; every layout of a file is read."""

import math
from typing import Any

import pytest
import yaml

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.settings import SENSORS, Settings, iter_settings, settings_from_mapping
from inertial_id_ros.settings.spec import Spec, allowed_range

ALL = list(iter_settings(Settings()))
NUMBERS = [(n, v, s) for n, v, s in ALL if isinstance(v, int | float) and not isinstance(v, bool)]


def test_the_defaults_are_allowed_and_every_setting_is_described() -> None:
    for name, value, spec in ALL:
        assert name.count(".") == 1 and spec.description.endswith("."), name
        assert Settings().replace({name: value}) == Settings()


@pytest.mark.parametrize(("name", "value", "spec"), NUMBERS, ids=[n for n, _, _ in NUMBERS])
def test_a_number_outside_its_range_is_refused_with_name_and_range(
        name: str, value: float, spec: Spec) -> None:
    near = [limit + sign * 1e-6 for limit, sign in ((spec.low, -1), (spec.high, 1), (spec.above, 0))
            if math.isfinite(limit)]
    for bad in (*near, math.nan, math.inf, -math.inf):
        with pytest.raises(InvalidSetting) as caught:
            Settings().replace({name: bad})
        assert name in str(caught.value) and allowed_range(spec) in str(caught.value)


@pytest.mark.parametrize(("name", "value", "spec"), ALL, ids=[n for n, _, _ in ALL])
def test_a_value_of_another_type_or_no_choice_is_refused_by_name(
        name: str, value: Any, spec: Spec) -> None:
    wrong: list[Any] = [None, {}, object()]
    if isinstance(value, bool):
        wrong += [1, 0, "true", 1.0]
    elif isinstance(value, float):
        wrong += ["1.0", "1e-3", True, [1.0], 10**400]
    elif isinstance(value, str):
        wrong += [1, 1.5, True, ["a"], *(["sideways"] if spec.choices else [])]
    else:
        wrong += [1.0, "0, 0, 0", [10**400] * 3, [None] * 3, ["0"] * 3, [True] * 3]
    for bad in wrong:
        with pytest.raises(InvalidSetting, match=f"^{name} is "):
            Settings().replace({name: bad})


@pytest.mark.parametrize(("name", "nearest"), [
    ("wrench.topik", "wrench.topic"), ("gain_error", "wrench.gain_error"),
    ("buffr.window", "buffer.window"), ("a.b.c", ""), ("", "")])
def test_an_unknown_name_is_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(InvalidSetting, match=f"'{name}'; nearest: {nearest}"):
        Settings().replace({name: "/ft"})


EXPECTED = Settings().replace({"wrench.topic": "/ft", "wrench.noise": (0.2, 0.01),
                               "shape.size": [0.1, 0.2, 0.3], "shape.bounding": False})
BODY = """
wrench: {topic: /ft, noise: [0.2, 0.01]}
shape: {size: [0.1, 0.2, 0.3], bounding: false}
"""
INDENTED = BODY.replace("\n", "\n      ")


@pytest.mark.parametrize("sensor", SENSORS)
def test_a_sensor_gives_what_its_data_sheet_says_and_nothing_else(sensor: str) -> None:
    settings = Settings().replace({"wrench.sensor": sensor})
    given = {n: v for n, v, _ in iter_settings(settings) if n in SENSORS["unknown"].defaults()}
    assert given == SENSORS[sensor].defaults()
    assert settings.replace({"wrench.sensor": "unknown"}) == Settings()


@pytest.mark.parametrize("text", [
    BODY,
    "wrench.topic: /ft\nwrench.noise: [0.2, 0.01]\nshape.size: [0.1, 0.2, 0.3]\n"
    "shape.bounding: false",
    f"/**:\n  ros__parameters:{INDENTED}",
    f"inertial_id:\n  ros__parameters:{INDENTED}",
    f"/cell/left:\n  inertial_id:\n    ros__parameters:{INDENTED}",
    "/**:\n  ros__parameters:\n    wrench.topic: /ft\n    wrench: {noise: [0.2, 0.01]}\n"
    "    shape.size: [0.1, 0.2, 0.3]\n    shape: {bounding: false}",
], ids=["nested", "dotted", "any node", "named node", "namespace", "mixed"])
def test_nested_dotted_and_ros_layouts_mean_the_same(text: str) -> None:
    assert settings_from_mapping(yaml.safe_load(text)) == EXPECTED


def test_what_is_set_beside_a_sensor_wins_over_its_data_sheet_in_any_order() -> None:
    for names in (("sensor", "range"), ("range", "sensor")):
        values = {"sensor": "onrobot_hex", "range": [150, 5]}
        settings = settings_from_mapping({"wrench": {n: values[n] for n in names}})
        assert settings.wrench.range == (150.0, 5.0)
        assert settings.wrench.cross_talk == SENSORS["onrobot_hex"].cross_talk
    again = settings.replace({"wrench.sensor": "onrobot_hex"})  # no other sensor
    assert again == settings
