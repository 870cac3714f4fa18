# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Numbers that pages state and the code decides are those of the code."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest import ROOT

from inertial_id_ros import limits
from inertial_id_ros.export.payload import DEVIATIONS
from inertial_id_ros.identification.verdict import (
    COM_LENGTH,
    COM_SHARE,
    DATA_SHARE,
    INERTIA_SHARE,
    MASS_SHARE,
)
from inertial_id_ros.settings import Settings, iter_settings

DEFAULT = {name: value for name, value, _ in iter_settings(Settings())}


def megabytes(size: int) -> int:
    return size // limits.MEGABYTE


def spaced(number: int) -> str:
    """With a space between thousands, from five digits on."""
    return f"{number:,}".replace(",", " ") if number >= 10_000 else str(number)


def percent(share: float) -> str:
    return f"{100.0 * share:g} %"


def millimetres(length: float) -> str:
    return f"{1000.0 * length:g} mm"


# Page, and how it states a number.
STATED: list[tuple[str, Callable[[], str]]] = [
    ("methods", lambda: f"| mass | {percent(MASS_SHARE)} of the mass |"),
    ("methods", lambda: f"| centre of mass | {millimetres(COM_LENGTH)}, or {percent(COM_SHARE)} of "
                        "its distance from the sensor"),
    ("methods", lambda: f"| inertia | {percent(INERTIA_SHARE)} of the mean principal moment"),
    ("methods", lambda: f"(variance of the prior alone) ≥ {DATA_SHARE}`"),
    ("methods", lambda: f"at most {spaced(limits.MAX_REQUEST_POINTS)} points or vertices and "
                        f"{spaced(limits.MAX_REQUEST_FACES)} triangles"),
    ("first_hour", lambda: f"mass within {percent(MASS_SHARE)}, centre of mass within "
                           f"{millimetres(COM_LENGTH)} or {percent(COM_SHARE)} of its distance"),
    ("state", lambda: f"{megabytes(limits.MAX_URDF_BYTES)} MB of URDF and {limits.MAX_URDF_LINKS} "
                      "links"),
    ("state", lambda: f"{megabytes(limits.MAX_MESH_BYTES)} MB and {spaced(limits.MAX_FACES)} faces "
                      "of a mesh"),
    ("state", lambda: f"{megabytes(limits.MAX_YAML_BYTES)} MB of YAML or JSON"),
    ("state", lambda: f"{megabytes(limits.MAX_MESSAGE_BYTES)} MB of a recorded message"),
    ("state", lambda: f"{limits.MAX_JOINTS} joints or {limits.MAX_TRANSFORMS} transforms in a "
                      f"message, {limits.MAX_FRAMES} fixed and {limits.MAX_MOVING_FRAMES} moving"),
    ("state", lambda: f"at most {limits.MAX_SAVED_FILES} in each"),
    ("state", lambda: {120.0: "inputs of the last two minutes"}[DEFAULT["black_box.duration"]]),
    ("estimators", lambda: f"{millimetres(DEFAULT['alignment.position_sd'])} "
                           "(`alignment.position_sd`)"),
    ("estimators", lambda: f"wrong by {millimetres(Settings().shape.position_sd)}, "
                           f"{Settings().shape.rotation_sd:g}° and "
                           f"{percent(Settings().shape.scale_sd)} of its size"),
    ("joint_torques",
     lambda: f"{percent(Settings().load.friction_drift)} of the friction are added"),
    ("contract", lambda: f"is at its default of {DEFAULT['estimator.rate']:g} Hz"),
    ("export", lambda: f"{DEVIATIONS:g} standard deviations to either side"),
]


@pytest.mark.parametrize(("page", "text"), STATED)
def test_a_page_states_the_number_of_the_code(page: str, text: Callable[[], str]) -> None:
    written = re.sub(r"\s+", " ", (ROOT / "docs" / f"{page}.md").read_text())
    assert text() in written


def test_the_contract_states_the_times_that_the_node_keeps() -> None:
    pytest.importorskip("rclpy")
    from inertial_id_ros.ros.contract import (
        DEADLINE,
        HEARTBEAT,
        LEASE,
        LONGEST_GAP,
        LOOK,
        PERIODS,
        STALE_AFTER,
    )

    page = re.sub(r"\s+", " ", (ROOT / "docs" / "contract.md").read_text())
    assert STALE_AFTER < 1.0  # of the second that the page promises
    for text in (f"a message at least every {LONGEST_GAP:g} s", f"{HEARTBEAT:g} s after the last, "
                 f"noticed within {LOOK:g} s", f"| deadline | {DEADLINE:g} s |",
                 f"lease {LEASE:g} s", f"{PERIODS:g} periods of `estimator.rate`"):
        assert text in page, text
