# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The documentation agrees with the code."""

from __future__ import annotations

import json
import re
import runpy
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from inertial_id_ros.settings import Settings, iter_settings

PAGES = [page for pattern in ("*.md", "docs/*.md", "benchmarks/**/*.md",
                              "underlay/*.md") for page in ROOT.glob(pattern)]


@pytest.mark.parametrize("name", ["settings", "troubleshooting"])
def test_a_generated_page_is_what_its_script_writes_today(name: str) -> None:
    made = runpy.run_path(str(ROOT / "docs" / f"make_{name}_page.py"))["page"]()
    assert (ROOT / "docs" / f"{name}.md").read_text() == made


def test_each_page_of_the_site_is_in_its_contents() -> None:
    named = set(re.findall(r"^(\w+)$", (ROOT / "docs" / "index.md").read_text(), re.M))
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} == named


def test_every_link_between_pages_leads_to_a_file_and_a_heading() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text()):
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            assert file.exists(), f"{page.name}: {target}"
            headings = [re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
                        for line in file.read_text().splitlines()
                        if line.startswith("#")] if anchor else []
            assert not anchor or anchor in headings, f"{page.name}: {target}"


def test_every_file_of_tests_and_setting_that_a_page_names_exists() -> None:
    tests = {path.name for path in (ROOT / "test").rglob("test_*.py")}
    settings = {name for name, _, _ in iter_settings(Settings())}
    groups = {name.partition(".")[0] for name in settings}
    for page in PAGES:
        text = page.read_text()
        assert set(re.findall(r"\b(test_\w+\.py)`", text)) <= tests, page.name
        said = {name for name in re.findall(r"`([a-z_]+\.[a-z_]+)(?![\w.*])", text)
                if name.partition(".")[0] in groups}
        assert said <= settings, page.name


def run(page: str) -> dict[str, Any]:
    """The names that the one block of Python code in a page makes."""
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    names: dict[str, Any] = {}
    exec(compile(snippet, page, "exec"), names)
    return names


def test_the_snippet_of_the_readme_finds_what_it_says() -> None:
    body = run("README.md")["result"].body
    np.testing.assert_allclose(body.mass, 1.2, rtol=0.01)
    np.testing.assert_allclose(body.com, [0.01, 0.0, 0.08], atol=2e-3)


def assert_found(names: dict[str, Any]) -> None:
    """The variable `result` is the payload of the variable `robot`."""
    body, truth = names["result"].body, names["robot"].payload
    np.testing.assert_allclose(body.mass, truth.mass, rtol=0.01)
    np.testing.assert_allclose(body.com, truth.com, atol=2e-3)


def test_the_snippet_of_the_page_on_python_finds_the_payload() -> None:
    assert_found(run("docs/python_api.md"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_the_notebook_finds_the_payload() -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    notebook, names = json.loads((ROOT / "examples" / "identify_payload.ipynb").read_text()), {
        "__name__": "__main__"}
    matplotlib.use("Agg")
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), "a cell", "exec"), names)
    plt.close("all")
    assert_found(names)
