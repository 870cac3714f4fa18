# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The list of dependencies and the bill of materials name what is locked and installed."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text()
FILES = ("run", "jazzy", "kilted", "build", "dev", "docs")


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(file: str) -> dict[str, str]:
    """What each requirement of a file is for, by its name; "" where only its version repeats."""
    found: dict[str, str] = {}
    for line in (ROOT / "requirements" / f"{file}.txt").read_text().splitlines():
        if "==" in line:
            use = line.partition("#")[2].strip()
            found[line.split("==")[0]] = use or found[line.split("==")[0]]
    return found


def locked(file: str) -> dict[str, set[str]]:
    """The locked versions by normalised name."""
    text = (ROOT / "requirements" / "locked" / f"{file}.txt").read_text()
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.M):
        found.setdefault(normalise(name), set()).add(version)
    return found


def test_the_page_tells_the_use_of_every_requirement_and_of_no_other() -> None:
    """In the words of the file that requires it."""
    rows = dict(re.findall(r"^\| ([\w-]+) \| (.+?) \| .+ \| .+ \|$", PAGE, re.M))
    rows.pop("package")
    assert rows == {name: use for file in FILES for name, use in required(file).items()}


def test_the_page_names_whatever_else_is_installed_with_them_and_nothing_more() -> None:
    lists = re.findall(r"^Needed by these: (.*?)\.$", PAGE, re.M | re.S)
    named = {normalise(word) for text in lists
             for word in re.sub(r"\(.*?\)|the packages .*?,", "", text, flags=re.S)
             .replace(",", " ").split()}
    direct = {normalise(name) for file in FILES for name in required(file)}
    indirect = {name for file in FILES for name in locked(file)} - direct
    assert named == {name for name in indirect if not name.startswith("ros-")}


# The bill of materials


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """The script that writes it."""
    file = ROOT / "scripts" / "make_sbom.py"
    spec = importlib.util.spec_from_file_location("make_sbom", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bill(writer: ModuleType) -> dict[str, Any]:
    """Of the environment in which the tests run."""
    return json.loads(json.dumps(writer.bill_of_materials()))


@pytest.mark.slow
def test_the_bill_has_each_locked_package_that_pip_finds_and_no_other(
        bill: dict[str, Any]) -> None:
    listed = json.loads(subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True, capture_output=True, text=True).stdout)
    installed = {normalise(p["name"]): p["version"] for p in listed}
    names = {name for file in FILES for name in locked(file)}
    assert len(bill["components"]) > 50
    assert {c["name"]: c["version"] for c in bill["components"]} == {
        name: version for name, version in installed.items() if name in names}


def test_each_part_of_the_bill_has_the_locked_hashes_and_refers_to_others_in_it(
        bill: dict[str, Any]) -> None:
    text = "".join((ROOT / "requirements" / "locked" / f"{f}.txt").read_text() for f in FILES)
    refs = {c["bom-ref"] for c in bill["components"]}
    assert len(refs) == len(bill["components"])
    for c in bill["components"]:
        assert c["purl"] == c["bom-ref"] == f"pkg:pypi/{c['name']}@{c['version']}"
        hashes = [h["content"] for ref in c["externalReferences"] for h in ref["hashes"]]
        entry = re.search(rf"^{c['name']}=={re.escape(c['version'])}\b.*\\\n(?:    .*\n)+", text,
                          re.M)
        assert hashes and entry is not None
        assert set(hashes) == set(re.findall(r"sha256:(\w+)", entry[0]))
    own = bill["metadata"]["component"]["bom-ref"]
    assert {d["ref"] for d in bill["dependencies"]} == refs | {own}
    assert {r for d in bill["dependencies"] for r in d["dependsOn"]} <= refs


def test_dependencies_that_everybody_knows_are_in_the_bill(bill: dict[str, Any]) -> None:
    needed = {d["ref"].split("@")[0].split("/")[-1]: {r.split("@")[0].split("/")[-1]
              for r in d["dependsOn"]} for d in bill["dependencies"]}
    assert "numpy" in needed["scipy"] and "scipy" in needed["cvxpy"]
    assert "execnet" in needed["pytest-xdist"]
    assert needed["numpy"] == set()


def test_the_same_environment_gives_the_same_bill(writer: ModuleType,
                                                  bill: dict[str, Any]) -> None:
    assert writer.bill_of_materials() == bill


def test_licences_are_taken_from_expressions_then_names_then_the_words_themselves(
        writer: ModuleType, bill: dict[str, Any]) -> None:
    """One package of each kind, as its metadata say."""
    stated = {c["name"]: c["licenses"] for c in bill["components"] if "licenses" in c}
    assert stated["cvxpy"] == [{"expression": "Apache-2.0"}]
    assert stated["rich"] == [{"license": {"id": "MIT"}}]
    assert len(stated) > 0.9 * len(bill["components"])
