# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The code that README.md and the examples show runs, and finds the payload."""

from __future__ import annotations

import json
import re
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def snippets() -> list[str]:
    """The blocks of Python code in README.md."""
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def assert_found(names: dict[str, Any]) -> None:
    """The variable `result` is the payload of the variable `robot`."""
    body, truth = names["result"].body, names["robot"].payload
    np.testing.assert_allclose(body.mass, truth.mass, rtol=0.01)
    np.testing.assert_allclose(body.com, truth.com, atol=2e-3)


def test_the_snippet_of_the_readme_finds_the_payload(capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = snippets()
    names: dict[str, Any] = {}
    exec(compile(snippet, "README.md", "exec"), names)
    assert_found(names)
    assert "identified" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_finds_the_payload_and_draws_a_picture(path: Any) -> None:
    notebook, names = json.loads(path.read_text()), {"__name__": "__main__"}
    matplotlib.use("Agg")
    try:
        for number, cell in enumerate(code_cells(notebook)):
            exec(compile("".join(cell["source"]), f"{path.name}, code cell {number}", "exec"),
                 names)
        assert_found(names)
        assert len(plt.get_fignums()) == 1
    finally:
        plt.close("all")


def test_notebooks_are_stored_without_outputs() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        for cell in code_cells(json.loads(path.read_text())):
            assert cell["outputs"] == [] and cell["execution_count"] is None, path
