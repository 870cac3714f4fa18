"""Writes docs/settings.md from the settings table: ``python docs/make_settings_page.py``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.setting_spec import allowed_range  # noqa: E402
from inertial_id_ros.settings import Settings, iter_settings  # noqa: E402

PAGE = ROOT / "docs" / "settings.md"
HEAD = """# Settings

Parameters of `inertial_id_node`, keys of the YAML file of `identify_bag --config`, and names for
`Settings().replace(...)` in Python. YAML may be nested, dotted, or a ROS parameter file. Settings
with "run time" in the column "set" may be changed while the node runs (`ros2 param set`); the
others are fixed when it starts. This page is made from `inertial_id_ros/settings.py` by
`python docs/make_settings_page.py`.

| name | default | allowed | set | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The settings page as Markdown: a row of the table for each setting."""
    rows = []
    for name, value, spec in iter_settings(Settings()):
        if isinstance(value, str):
            default, kind = value or '""', "text"
        elif isinstance(value, bool):
            default, kind = str(value).lower(), "true, false"
        elif isinstance(value, tuple):
            default, kind = str(list(value)), ""
        else:
            default, kind = f"{value:g}", ""
        allowed = kind if kind and not spec.choices else allowed_range(spec)
        if spec.lengths:
            allowed += f"; {' or '.join(map(str, spec.lengths))} numbers"
        when = "run time" if spec.runtime else "start"
        rows.append(f"| `{name}` | `{default}` | {allowed} | {when} | {spec.description} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
