# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The build files, the interfaces, the stand-in for tf_transformations, and the documentation: it
agrees with the code, and the code that it shows finds the payload."""

import json
import os
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import ROOT
from scipy.spatial.transform import Rotation

from inertial_id_ros.cli import PROGRAMS, VERSION
from inertial_id_ros.extras import EXTRAS

SETUP = (ROOT / "setup.py").read_text()
CMAKE = re.sub(r"#.*", "", (ROOT / "CMakeLists.txt").read_text())
INTERFACES = sorted(f for kind in ("msg", "srv", "action") for f in (ROOT / kind).iterdir())


def test_pip_and_cmake_install_all_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("setuptools.setup", given.update)
    runpy.run_path(str(ROOT / "setup.py"))
    scripts = given["entry_points"]["console_scripts"]
    assert {line.partition(" = ")[0] for line in scripts} == set(PROGRAMS)
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if (folder := Path(prefix, "lib/inertial_id_ros")).is_dir():
            assert {file.name for file in folder.iterdir()} == set(PROGRAMS)


def test_the_build_files_name_one_version_and_the_extras_of_the_messages() -> None:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert package.findtext("version") == VERSION and f'version="{VERSION}"' in SETUP
    extras = re.search(r"EXTRAS = \{.*?\n\}", SETUP, re.S)
    assert extras is not None
    for name, modules in EXTRAS.items():
        line = re.search(rf'"{name}": \[(.*?)\]', extras[0], re.S)
        assert line is not None, name
        assert all(f'"{module}>=' in line[1] for module in modules)


def test_all_interfaces_are_generated_and_what_they_use_is_declared() -> None:
    listed = re.findall(r'"((?:msg|srv|action)/\w+\.\w+)"', CMAKE)
    assert sorted(listed) == sorted(f.relative_to(ROOT).as_posix() for f in INTERFACES)
    used = {name for file in INTERFACES
            for name in re.findall(r"^(\w+)/\w+", file.read_text(), re.M)}
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert used <= {element.text for element in package.findall("depend")}


def test_the_stand_in_agrees_with_scipy(rng: np.random.Generator) -> None:
    """Also where the ROS installation has the real package."""
    tf = SimpleNamespace(**runpy.run_path(str(
        ROOT / "underlay" / "tf_transformations" / "tf_transformations" / "__init__.py")))
    for quaternion, other in rng.normal(size=(20, 2, 4)):
        turn, next_turn = Rotation.from_quat(quaternion), Rotation.from_quat(other)
        matrix = tf.quaternion_matrix(3.0 * quaternion)
        np.testing.assert_allclose(matrix[:3, :3], turn.as_matrix(), atol=1e-12)
        for found, wanted in (
                (tf.quaternion_from_matrix(matrix), turn),
                (tf.quaternion_from_euler(*turn.as_euler("xyz")), turn),
                (tf.quaternion_from_euler(*turn.as_euler("ZYX"), "rzyx"), turn),
                (tf.quaternion_multiply(turn.as_quat(), next_turn.as_quat()), turn * next_turn),
                (tf.quaternion_inverse(quaternion), turn.inv())):
            assert (Rotation.from_quat(found).inv() * wanted).magnitude() < 1e-7
        np.testing.assert_allclose(tf.euler_from_quaternion(turn.as_quat()), turn.as_euler("xyz"),
                                   atol=1e-9)


@pytest.mark.parametrize("name", ["settings", "troubleshooting"])
def test_a_generated_page_is_what_its_script_writes_today(name: str) -> None:
    made = runpy.run_path(str(ROOT / "docs" / f"make_{name}_page.py"))["page"]()
    assert (ROOT / "docs" / f"{name}.md").read_text() == made


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
    body, truth = names["result"].body, names["robot"].carried
    np.testing.assert_allclose(body.mass, truth.mass, rtol=0.01)
    np.testing.assert_allclose(body.com, truth.com, atol=2e-3)


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


def test_the_snippet_of_the_page_on_python_finds_the_payload() -> None:
    assert_found(run("docs/python_api.md"))
