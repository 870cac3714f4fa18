# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The documentation agrees with the code."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import yaml
from conftest import ROOT

from inertial_id_ros.settings import Settings, iter_settings

PACKAGE = ROOT / "inertial_id_ros"
OTHERS = re.compile(  # of drivers
    r"ros2 launch (?!inertial_id_ros)\w+ \S+|\w*bringup\.launch\.py|\[[^]]*\]\(http[^)]*\)")


def test_settings_page_is_made_from_the_settings_table() -> None:
    """docs/settings.md is what its script writes today."""
    made = runpy.run_path(str(ROOT / "docs" / "make_settings_page.py"))["page"]()
    assert (ROOT / "docs" / "settings.md").read_text() == made


def test_files_of_drivers_hold_only_the_settings_with_which_the_page_begins() -> None:
    first = runpy.run_path(str(ROOT / "docs" / "make_settings_page.py"))["FIRST"]
    assert len(first) <= 20
    files = [path for path in (ROOT / "config").glob("*.yaml")
             if path.stem not in ("default", "simulation")]
    assert len(files) >= 6
    for path in files:
        tree = yaml.safe_load(path.read_text())["/**"]["ros__parameters"]
        assert {f"{group}.{name}" for group, settings in tree.items()
                for name in settings} <= set(first), path.name


def test_interfaces_page_is_made_from_definitions_and_settings() -> None:
    """docs/interfaces.md is what its script writes today."""
    made = runpy.run_path(str(ROOT / "docs" / "make_interfaces_page.py"))["page"]()
    assert (ROOT / "docs" / "interfaces.md").read_text() == made


def test_the_page_of_the_node_has_each_topic_service_and_action_and_no_other() -> None:
    """The names are those of the policy of the node, which its own test holds to a running node."""
    script = runpy.run_path(str(ROOT / "docs" / "make_interfaces_page.py"))
    offered = [name for element, qualifier in (("topic", "publish"), ("service", "reply"),
                                               ("action", "execute"))
               for name in script["offered"](element, qualifier)]
    assert len(offered) > 15 and set(script["described"]()) == set(offered)


def test_each_page_of_the_site_is_in_its_contents() -> None:
    """A page that no table of contents names is never read."""
    contents = (ROOT / "docs" / "index.md").read_text()
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    named = set(re.findall(r"^(\w+)$", contents, re.M))
    assert pages == named


def ends_of(path: Path) -> list[str]:
    """The path with its folders, and with ever fewer of them."""
    return ["/".join(path.parts[k:]) for k in range(len(path.parts))]


def test_every_python_file_that_a_page_names_exists() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "benchmarks" / "README.md",
             ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "QUALITY_DECLARATION.md",
             ROOT / "SECURITY.md"]
    folders = ("inertial_id_ros", "test", "benchmarks", "docs", "examples", "launch", "scripts")
    paths = [*ROOT.glob("*.py"), *(p for name in folders for p in (ROOT / name).rglob("*.py"))]
    files = {part for path in paths for part in ends_of(path.relative_to(ROOT))}
    missing = [f"{page.name}: {name}" for page in pages
               for name in re.findall(r"(?<![\w./])[\w./]+\.py\b", OTHERS.sub("", page.read_text()))
               if name.removeprefix("../") not in files and "foo.py" not in name]
    assert missing == []


def test_every_link_between_pages_leads_to_a_file_and_a_heading() -> None:
    pages = [page for pattern in ("*.md", "docs/*.md", "benchmarks/**/*.md", "packaging/*.md",
                                  "underlay/*.md") for page in ROOT.glob(pattern)]
    for page in pages:
        for target in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text()):
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            assert file.exists(), f"{page.name}: {target}"
            headings = [re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
                        for line in file.read_text().splitlines()
                        if line.startswith("#")] if anchor else []
            assert not anchor or anchor in headings, f"{page.name}: {target}"


def test_every_test_that_a_page_names_exists() -> None:
    there = {name for path in (ROOT / "test").rglob("test_*.py")
             for name in re.findall(r"def (test_\w+)\(", path.read_text())}
    named = {name for page in (ROOT / "docs").glob("*.md")
             for name in re.findall(r"`(test_\w+)`", page.read_text())}
    assert named and named - there == set()


def test_every_setting_that_a_page_names_exists() -> None:
    """By its whole name; a page may shorten those that follow."""
    names = {name for name, _, _ in iter_settings(Settings())}
    groups = {name.partition(".")[0] for name in names}
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "benchmarks" / "README.md"]
    said = {(page.name, name) for page in pages
            for name in re.findall(r"`([a-z_]+\.[a-z_]+)(?![\w.*])", page.read_text())
            if name.partition(".")[0] in groups}
    assert len(said) > 50 and [pair for pair in sorted(said) if pair[1] not in names] == []


def test_every_promise_of_the_contract_names_its_test() -> None:
    rows = [line for line in (ROOT / "docs" / "contract.md").read_text().splitlines()
            if line.startswith("| ") and not line.endswith("| test |")]
    assert len(rows) > 20
    assert [row for row in rows if "`test_" not in row.split("|")[-2]] == []


def words_of_code() -> set[str]:
    """The words of the package and the benchmarks outside of docstrings and comments."""
    words = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        code = re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(), flags=re.S)
        words |= {path.stem, *path.relative_to(ROOT).parts[:-1], *re.findall(r"\w+", code)}
    return words


def test_every_name_that_a_docstring_quotes_exists() -> None:
    words, wrong = words_of_code(), []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                continue
            for quoted in re.findall(r"(?<!`)`([\w.]+)`(?!`)", ast.get_docstring(node) or ""):
                missing = [word for word in quoted.split(".") if word not in words]
                wrong += [f"{path.relative_to(ROOT)}: {quoted}"] if missing else []
    assert wrong == []
