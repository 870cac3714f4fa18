# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sphinx: ``make docs``, or rosdoc2 (which reads docs/rosdoc2.yaml)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "inertial_id_ros"
author = copyright = "inertial_id_ros developers"
release = version = re.findall(r"<version>(.*)</version>", (ROOT / "package.xml").read_text())[0]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_rtd_theme"]
html_theme = "sphinx_rtd_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
exclude_patterns = ["images"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing", "myst.header"]  # links to files outside this folder
# The client needs ROS, which the machine that builds these pages may not have.
autodoc_mock_imports = ["rclpy", "geometry_msgs", "builtin_interfaces", "std_msgs",
                        "inertial_id_ros.msg", "inertial_id_ros.srv"]
napoleon_use_ivar = True  # attributes of named tuples are members already
autodoc_typehints = "description"
autodoc_member_order = "bysource"


def skip_fields(app, what, name, obj, skip, options):
    """Leave out what Python says of each field of a named tuple: its class lists them already."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_fields)
