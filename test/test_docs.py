"""The documentation agrees with the code."""

from __future__ import annotations

import runpy

from conftest import ROOT


def test_settings_page_is_made_from_the_settings_table() -> None:
    """docs/settings.md is what its script writes today."""
    made = runpy.run_path(str(ROOT / "docs" / "make_settings_page.py"))["page"]()
    assert (ROOT / "docs" / "settings.md").read_text() == made
