# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The HTML report in real browsers: it loads nothing, fits a phone, and its 3D view turns."""

from __future__ import annotations

from pathlib import Path

import bags
import pytest

pytest.importorskip("websockets")
from browsers import browser, program  # noqa: E402

from inertial_id_ros.apps.bag.identify_bag import main  # noqa: E402

pytestmark = pytest.mark.slow
TURN = """(() => {
  const view = [...document.querySelectorAll('svg')].find(s => s.tabIndex >= 0);
  const before = view.outerHTML;
  view.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  return String(before !== view.outerHTML);
})()"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a simulated recording."""
    folder = tmp_path_factory.mktemp("report")
    bags.joint_bag(folder / "arm", duration=6.0)
    assert main([str(folder / "arm"), "--report", str(folder), "--quiet", "--shape",
                 "box:0.2,0.2,0.3@0.02,-0.03,0.08"]) == 0
    return folder / "arm.html"


@pytest.mark.parametrize("name", ["chromium", "firefox"])
@pytest.mark.parametrize("width", [390, 1200], ids=["phone", "desk"])
def test_it_opens_without_network_or_complaint_fits_and_turns(
        report: Path, tmp_path: Path, name: str, width: int) -> None:
    if program(name) is None:
        pytest.skip(f"{name} is not installed on this machine")
    with browser(name, tmp_path) as page:
        page.open(report.as_uri(), width, 800)
        assert "kg" in page.evaluate("document.body.innerText")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TURN) == "true"
        own = ("file:", "about:", "data:")
        assert [r for r in page.requested if not r.startswith(own)] == []
        assert page.errors == []
