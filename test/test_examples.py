# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The code that README.md, the page on Python and the notebook show runs, and finds the payload."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from conftest import ROOT


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
