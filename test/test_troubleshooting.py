# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md has an entry for each finding, and for nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from conftest import ROOT

from inertial_id_ros.settings import Settings, iter_settings

PACKAGE = ROOT / "inertial_id_ros"
# Kinds whose streams are put in by a variable.
COMPOSED = ((("samples_repeated", "samples_late", "samples_reordered", "stamps_still",
              "stamp_stray"), ("wrench", "joints", "transforms")),
            (("message_malformed", "message_too_large"),
             ("wrench", "joints", "transforms", "static_transforms")),
            (("message_too_large",), ("dynamic_joints",)),
            (("stamp_missing",), ("joints", "transforms")))
NEVER = {"samples_repeated.transforms"}  # repeated transforms are what /tf is like: not counted
OTHERS = {"publishers", "kg"}  # constants that share a name with one of a finding
NAME = re.compile(r"[a-z]+(_[a-z]+)*(\.[a-z_]+)?")
METHODS = ("set", "set_or_clear", "count", "error", "Finding", "add_finding")


def trees() -> Iterator[ast.Module]:
    """All modules."""
    for file in PACKAGE.rglob("*.py"):
        yield ast.parse(file.read_text())


def constants() -> dict[str, set[str]]:
    """Texts of module constants and class attributes, by name."""
    found: dict[str, set[str]] = {}
    for node in (n for tree in trees() for n in ast.walk(tree) if isinstance(n, ast.Assign)):
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    found.setdefault(name.id, set()).add(str(value.value))
    return found


def first_arguments() -> Iterator[ast.expr]:
    """What findings are recorded under."""
    for call in (n for tree in trees() for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(
            call.func, "id", "")
        into_a_log = name in METHODS and re.search(
            r"(findings|log|_incoming|identifier)$",
            ast.unparse(call.func).removesuffix(f".{name}"))
        if (name in ("Finding", "_refuse") or into_a_log) and len(call.args) > 1:
            yield call.args[0]


@cache
def recorded() -> set[str]:
    """The names of all findings."""
    known = constants()
    names = {*known["finding"], *known["_OFFSET_NAME"]}  # of nuisance states, and of an event
    for argument in first_arguments():
        if isinstance(argument, ast.Constant):
            names.add(argument.value)
        elif isinstance(argument, ast.Name) and argument.id.isupper():
            names |= known[argument.id] - OTHERS
    texts = "\n".join(file.read_text() for file in PACKAGE.rglob("*.py"))
    names |= set(re.findall(r'(?:zeroed|gap|doubted)_name="([\w.]+)"', texts))
    names |= set(re.findall(r'EventKind\.\w+: \("(\w+)", "\w+"\)', texts))
    # of `span.name` and of the check of shapes, which pass them on
    names |= {n for key in ("FROZEN", "JUMPED", "MIXED", "COM_FINDING", "INERTIA_FINDING")
              for n in known[key]}
    return {name for name in names if NAME.fullmatch(name)} | composed()


def composed() -> set[str]:
    """Names whose stream is put in by a variable."""
    return {f"{kind}.{stream}" for kinds, streams in COMPOSED
            for kind, stream in product(kinds, streams)} - NEVER


def described() -> set[str]:
    """The names in the first column of the page."""
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    cells = re.findall(r"^\| (`.*?) \|", page, re.M)
    return {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}


def kinds(names: set[str]) -> set[str]:
    """The names without what they are about."""
    return {name.partition(".")[0] for name in names}


def test_each_finding_has_an_entry_and_each_entry_a_finding() -> None:
    names, entries = recorded(), described()
    assert {n for n in names if not {n, *kinds({n})} & entries} == set()
    assert entries - names <= kinds(names)


def test_there_are_few_kinds_of_findings() -> None:
    assert len(kinds(recorded())) <= 76


def test_each_setting_that_the_page_names_exists() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    names = {name for name, _, _ in iter_settings(Settings())}
    groups = {name.partition(".")[0] for name in names}
    said = {name for name in re.findall(r"`(\w+\.\w+)[`:]", page)
            if name.partition(".")[0] in groups}
    assert len(said) > 8 and said <= names
