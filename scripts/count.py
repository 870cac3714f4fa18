# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Prints how large the project is; exit status 1 where a number exceeds `pyproject.toml`.

The numbers of `[tool.counts]` there only go down. Core: the packages and modules in `CORE`; apps:
those in `APPS`; ros: all others, the node with targets, exports, messages and entry points.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
NAME = "inertial_id_ros"
CORE = ("samples", "motion", "model", "explain", "detect", "identify", "estimators", "compensation",
        "geometry", "settings", "kinds.py", "estimate.py", "inertia.py", "errors.py", "api.py")
APPS = ("apps", "robot")
PLAIN = (0, 1, 2, 3, 6, 10)  # sizes and shapes rather than choices
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Other = (ast.AugAssign, ast.AnnAssign)


def lines(files: list[Path]) -> int:
    """Lines of files, all of them."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def numbers(part: ast.AST) -> int:
    """Numbers in a part, without those that are sizes and shapes."""
    return sum(isinstance(one, ast.Constant) and isinstance(one.value, (int, float))
               and not isinstance(one.value, bool) and one.value not in PLAIN
               for one in ast.walk(part))


def sheets(tree: ast.AST) -> int:
    """Numbers of sensors that are described, by their data sheets: nobody chose them."""
    return sum(numbers(node) for node in ast.walk(tree)
               if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sensor")


def tuned(tree: ast.AST) -> int:
    """Numbers that somebody chose: in assignments of modules and classes, and in defaults."""
    count = 0
    for node in ast.walk(tree):
        chosen: list[ast.AST | None] = []
        if isinstance(node, (ast.Module, ast.ClassDef)):
            chosen = [child.value for child in node.body
                      if isinstance(child, (ast.Assign, ast.AnnAssign))]
        elif isinstance(node, Function):
            chosen = [*node.args.defaults, *node.args.kw_defaults]
        count += sum(numbers(part) for part in filter(None, chosen))
    return count - sheets(tree)


def imports(tree: ast.AST, file: Path) -> int:
    """Distinct modules of the package that a file imports, also for types."""
    package = file.relative_to(ROOT).parent.parts
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "")[:15] == NAME):
            base = package[:len(package) - node.level + 1] if node.level else ()
            path = (*base, *(node.module or "").split(".")) if node.module else base
            for alias in node.names:
                place = ROOT.joinpath(*path, alias.name)
                is_module = place.is_dir() or place.with_suffix(".py").is_file()
                found.add((*path, alias.name) if is_module else path)
    return len(found)


def classes(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Methods and mutable attributes of each class: those assigned outside of its constructors."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [child for child in node.body if isinstance(child, Function)]
            parts = [part for method in methods if method.name != "__init__"
                     for child in ast.walk(method)
                     for target in (child.targets if isinstance(child, ast.Assign) else
                                    [child.target] if isinstance(child, Other)
                                    else [])
                     for part in ast.walk(target)]
            attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)
                          and isinstance(part.ctx, ast.Store)
                          and isinstance(part.value, ast.Name) and part.value.id == "self"}
            yield len(methods), len(attributes)


def count() -> dict[str, int]:
    """Every number by its name."""
    package = [f for f in (ROOT / NAME).rglob("*.*") if "__pycache__" not in f.parts
               and f.suffix in (".py", ".yaml", ".html", ".jinja")]
    groups: dict[str, list[Path]] = {"core": [], "apps": [], "ros": []}
    for file in package:
        part = file.relative_to(ROOT / NAME).parts[0]
        groups["core" if part in CORE else "apps" if part in APPS else "ros"].append(file)
    trees = {f: ast.parse(f.read_text(encoding="utf-8")) for f in package if f.suffix == ".py"}
    long = [node.end_lineno - node.lineno + 1 for tree in trees.values() for node in ast.walk(tree)
            if isinstance(node, Function) and node.end_lineno is not None]
    all_classes = [c for tree in trees.values() for c in classes(tree)]
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    return {
        "package_lines": lines(package), "package_files": len(package),
        **{f"{name}_lines": lines(some) for name, some in groups.items()},
        **{f"{name}_files": len(some) for name, some in groups.items()},
        "core_tuned_numbers": sum(tuned(trees[f]) for f in groups["core"] if f in trees),
        "data_sheet_numbers": sum(sheets(trees[f]) for f in groups["core"] if f in trees),
        "test_lines": lines(list((ROOT / "test").rglob("*.py"))),
        "benchmark_lines": lines(list((ROOT / "benchmarks").rglob("*.py"))),
        "doc_pages": len(pages),
        "doc_words": sum(len(page.read_text(encoding="utf-8").split()) for page in pages),
        "imports_of_a_file": max(imports(tree, file) for file, tree in trees.items()),
        "methods_of_a_class": max(m for m, _ in all_classes),
        "attributes_of_a_class": max(a for _, a in all_classes),
        "lines_of_a_function": max(long),
    }


def main() -> int:
    """Entry point; returns the exit status."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    most, over = tomllib.loads(text)["tool"]["counts"], 0
    for name, number in count().items():
        over += number > most[name]
        print(f"{name:24} {number:7}  {'ABOVE' if number > most[name] else 'of':>5} {most[name]}")
    return int(over > 0)


if __name__ == "__main__":
    raise SystemExit(main())
