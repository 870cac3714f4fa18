# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes docs/interfaces.md: ``python docs/make_interfaces_page.py``.

The names are those of config/sros2/inertial_id.policy.xml, which a test compares with a running
node; their types and meanings are the rows of docs/node.md, findings those of
docs/troubleshooting.md; fields are those of `msg`, `srv`, `action`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.settings import Settings, iter_settings  # noqa: E402

PAGE = ROOT / "docs" / "interfaces.md"
POLICY = ROOT / "config" / "sros2" / "inertial_id.policy.xml"
# What every node has, and every node with a lifecycle.
GENERAL = {"/parameter_events", "/rosout", "~/transition_event", "~/change_state",
           "~/get_available_states", "~/get_available_transitions", "~/get_state",
           "~/get_transition_graph", "~/get_type_description", "~/describe_parameters",
           "~/get_parameter_types", "~/get_parameters", "~/list_parameters", "~/set_parameters",
           "~/set_parameters_atomically"}
HEAD = """# Topics, services, actions, diagnostics

What `inertial_id_node` listens to and offers, with every field. `~` is the name of the node, by
default `/inertial_id_node`. Beside these it has the services of every ROS 2 node and of every
lifecycle node ([lifecycle.md](lifecycle.md)). `python docs/make_interfaces_page.py` makes this
page; tests hold it to the definitions and to a running node.
"""
DIAGNOSTICS = """Two statuses: `inputs` with the rates and counts of the topics, and `estimate` with
what came of them. Each holds its findings as keys, with their sentences as values:

"""


def offered(element: str, qualifier: str) -> list[str]:
    """Names that the node publishes, replies to or executes, without those of every node."""
    groups = ElementTree.parse(POLICY).getroot().findall(
        f"./enclaves/enclave[@path='/inertial_id/node']//{element}s[@{qualifier}='ALLOW']")
    names = [item.text or "" for group in groups for item in group]
    return [name for name in names if name not in GENERAL]


def described() -> dict[str, tuple[str, str]]:
    """Type and meaning of each name, from the tables of docs/node.md."""
    rows = re.findall(r"^\| `([~/][\w/]+)` \| `([\w/]+)` \| (.*) \|$",
                      (ROOT / "docs" / "node.md").read_text(), re.M)
    return {name: (kind, meaning) for name, kind, meaning in rows}


def table(names: list[str]) -> str:
    """Rows of names, types and meanings; `KeyError` for a name that docs/node.md does not have."""
    known = described()
    rows = []
    for name in names:
        kind, meaning = known[name]
        shown = f"`{kind}`" if "/" in kind else f"[`{kind}`](#{kind.lower()})"
        rows.append(f"| `{name}` | {shown} | {meaning} |\n")
    return "| name | type | |\n|---|---|---|\n" + "".join(rows)


def topics_in() -> str:
    """The topics that the node listens to, by the settings that name them."""
    rows = [f"| `{name}` | {f'`{value}`' if value else 'none'} | {spec.description} |\n"
            for name, value, spec in iter_settings(Settings())
            if name.endswith("topic")]
    return "| setting | default | |\n|---|---|---|\n" + "".join(rows)


def findings() -> str:
    """The names of all findings, by the headings of docs/troubleshooting.md."""
    pages = (ROOT / "docs" / "troubleshooting.md").read_text().split("\n## ")[1:]
    rows = []
    for part in pages:
        heading = part.splitlines()[0]
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        names = ", ".join(re.findall(r"^\| (`.*?) \|", part, re.M))
        rows.append(f"| [{heading}](troubleshooting.md#{anchor}) | {names} |\n")
    return "| about | findings |\n|---|---|\n" + "".join(rows)


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
        "## Topics out\n" + table(offered("topic", "publish")),
        "## Services\n" + table(offered("service", "reply")),
        "## Actions\n" + table(offered("action", "execute")),
        "## Diagnostics\n" + DIAGNOSTICS + findings(),
        "## Messages, services and actions, field by field\n" + definitions()))


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
