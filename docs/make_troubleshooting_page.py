# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes docs/troubleshooting.md: ``python docs/make_troubleshooting_page.py``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.kinds import (  # noqa: E402
    KINDS,
    SECTIONS,
    Doubt,  # noqa: E402
    Kind,
)

PAGE = ROOT / "docs" / "troubleshooting.md"
HEAD = """# Troubleshooting

`/diagnostics`, the field `diagnostics` of `~/inertial_parameters`, the log, `identify_bag` and all
reports name the same findings. A name is a kind, and after a dot what it is about
(`samples_late.wrench`). For "…" a sentence has the numbers of your case.

**Nothing is published?** `ros2 topic echo --once /diagnostics`: the status `inputs` says which
topic is silent, the status `estimate` what the data lack.

"""
DOUBT = """
## What is in doubt

At level `warning` or `error` these findings put something in doubt. A number in doubt is
`UNOBSERVED`; an estimate in doubt of its frame is not `valid`; while what is measured now is in
doubt, an earlier estimate is held as stale and nothing is applied.

"""

WORDS = {Doubt.MASS: "mass", Doubt.COM: "centre of mass", Doubt.INERTIA: "inertia",
          Doubt.FRAME: "frame", Doubt.PRESENT: "what is measured now"}


def doubt_list() -> str:
    """What is put in doubt, and by which kinds, as a list in Markdown."""
    doubts = dict.fromkeys(kind.doubt for kind in KINDS.values() if kind.doubt)
    return "".join(
        f"- {', '.join(word for part, word in WORDS.items() if part in doubt)}: "
        f"{', '.join(f'`{name}`' for name, kind in KINDS.items() if kind.doubt == doubt)}\n"
        for doubt in doubts)


def without_numbers(text: str) -> str:
    """A sentence with a mark in place of its numbers."""
    return "".join(before + ("" if field is None else "…") for before, field, _, _ in
                   Formatter().parse(text.removeprefix("{about}: ")))


def table() -> str:
    """All kinds as Markdown: name, level, what it means, what to do."""
    def rows(kinds: Mapping[str, Kind]) -> str:
        return "| name | level | sentence | what to do |\n|---|---|---|---|\n" + "".join(
            f"| `{name}` | {kind.level} | {without_numbers(kind.text)} | {kind.remedy} |\n"
            for name, kind in kinds.items())
    return "\n".join(f"## {title}\n\n{rows(kinds)}" for title, kinds in SECTIONS.items())


def page() -> str:
    """The whole page."""
    return f"{HEAD}{table()}{DOUBT}{doubt_list()}"


if __name__ == "__main__":
    PAGE.write_text(page())
