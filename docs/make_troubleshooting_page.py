# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes docs/troubleshooting.md: ``python docs/make_troubleshooting_page.py``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.kinds import doubt_list, table  # noqa: E402

PAGE = ROOT / "docs" / "troubleshooting.md"
HEAD = """# Troubleshooting

`/diagnostics`, the field `diagnostics` of `~/inertial_parameters`, the log, `identify_bag` and its
report name the same findings. A name is a kind, and after a dot what it is about
(`samples_late.wrench`), where that may be one of several. The sentence of a finding holds the
numbers of your case (here: "…"). This page is made from `inertial_id_ros/kinds.py` by
`python docs/make_troubleshooting_page.py`.

**Nothing is published?** `ros2 topic echo --once /diagnostics`: the status `inputs` says which
topic is silent, the status `estimate` what the data lack.

"""
DOUBT = """
## What is in doubt

A finding of level `warning` or `error` of this list puts something in doubt. A number in doubt is
`UNOBSERVED`; an estimate in doubt of its frame is not `valid`; while it is in doubt what is
measured now, an estimate from before is held as stale and nothing is applied. Findings of level
`info`, and all others, leave an estimate as it is.

"""


def page() -> str:
    """The whole page."""
    return f"{HEAD}{table()}{DOUBT}{doubt_list()}"


if __name__ == "__main__":
    PAGE.write_text(page())
