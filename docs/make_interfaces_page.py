# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes docs/interfaces.md: ``python docs/make_interfaces_page.py``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.settings import Settings, iter_settings  # noqa: E402

PAGE = ROOT / "docs" / "interfaces.md"
TOPICS = {
    "~/inertial_parameters": ("InertialParameters", "everything, with covariance, bias, verdict"),
    "~/summary": ("InertialSummary", "the same in one screen, for `ros2 topic echo` and plots"),
    "~/inertia": ("geometry_msgs/InertiaStamped", "mass, centre of mass and inertia, with each "
                  "fresh estimate whose inertia is known; not latched"),
    "~/wrench_compensated": ("geometry_msgs/WrenchStamped", "the wrench without the payload, "
                             "see [compensation](compensation.md)"),
    "~/compensation_state": ("CompensationState", "which load that is without, and why"),
    "~/markers": ("visualization_msgs/MarkerArray", "centre of mass and equivalent box with their "
                  "intervals (`ros2 launch inertial_id_ros view.launch.py`)"),
    "/diagnostics": ("diagnostic_msgs/DiagnosticArray", "every finding by name, see "
                     "[troubleshooting](troubleshooting.md)")}
SERVICES = {
    "~/get_inertial_parameters": ("GetInertialParameters", "last estimate, in any frame"),
    "~/set_shape": ("SetShape", "primitive, mesh or points of the object"),
    "~/set_tool": ("SetTool", "make the estimate the tool, load a tool, or clear it"),
    "~/tare": ("std_srvs/Trigger", "take the present reading as the bias (at rest, nothing "
               "attached)"),
    "~/untare": ("std_srvs/Trigger", "drop that bias"),
    "~/reset": ("std_srvs/Trigger", "drop all data; tare and tool stay"),
    "~/save": ("Save", "write the last estimate as JSON below `state.directory`"),
    "~/apply": ("Apply", "send the payload to the driver or controller, see [apply](apply.md)")}
ACTIONS = {
    "~/identify": ("Identify", "identify until an accuracy is reached; feedback: the estimate, and "
                   "which motion is missing")}
HEAD = """# Topics, services, actions, diagnostics

What `inertial_id_node` listens to and offers. `~` is the name of the node, by default
`/inertial_id_node`. Beside these it has the services of every ROS 2 lifecycle node. This page is
made by `python docs/make_interfaces_page.py`.
"""
def table(offered: dict[str, tuple[str, str]]) -> str:
    """Rows of names, types and meanings."""
    rows = []
    for name, (kind, meaning) in offered.items():
        shown = f"`{kind}`" if "/" in kind else f"[`{kind}`](#{kind.lower()})"
        rows.append(f"| `{name}` | {shown} | {meaning} |\n")
    return "| name | type | |\n|---|---|---|\n" + "".join(rows)


def topics_in() -> str:
    """The topics that the node listens to, by the settings that name them."""
    rows = [f"| `{name}` | {f'`{value}`' if value else 'none'} | {spec.description} |\n"
            for name, value, spec in iter_settings(Settings())
            if name.endswith("topic")]
    return "| setting | default | |\n|---|---|---|\n" + "".join(rows)


def definitions() -> str:
    """Each message, service and action as its file has it."""
    parts = []
    files = [path for kind in ("msg", "srv", "action") for path in sorted(ROOT.glob(f"{kind}/*"))]
    for path in files:
        parts.append(f"### {path.stem}\n`inertial_id_ros/{path.parent.name}/{path.stem}`\n"
                     f"```text\n{path.read_text().rstrip()}\n```\n")
    return "\n".join(parts)


def page() -> str:
    """The page as Markdown."""
    return "\n".join((
        HEAD,
        "## Topics in\nRelative names are in the namespace of the node.\n\n" + topics_in(),
        "## Topics out\n" + table(TOPICS),
        "## Services\n" + table(SERVICES),
        "## Actions\n" + table(ACTIONS),
        "## Messages, services and actions, field by field\n" + definitions()))


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
