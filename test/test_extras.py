# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Without a package that only some features need, these say so, and all others work."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import conftest
import pytest
from conftest import ROOT
from without_packages import run_without

from inertial_id_ros.errors import InertialIdError, MissingPackage
from inertial_id_ros.extras import EXTRAS, optional_packages

OPTIONAL = {*(module for modules in EXTRAS.values() for module in modules),
            "rtree", "embreex"}  # which trimesh uses where they are
TOOLS = ("identify_bag", "identify_robot", "export_payload", "plan_excitation")
# An identification by the classes that the node uses, of a payload in closed form.
IDENTIFY = """
from synthetic import assert_body, identifier, recording
made = identifier(estimator__method="density")
recording(6.0).feed(made)
assert_body(made.solve())
print("identified")
"""
# Every module that the node loads, or may load.
IMPORT_NODE = """
from importlib import import_module
from pathlib import Path
import inertial_id_ros.ros.main
root = Path(inertial_id_ros.ros.main.__file__).parent
for file in sorted(root.rglob("*.py")):
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    if not name.startswith("tools."):
        import_module("inertial_id_ros.ros." + name.removesuffix(".__init__"))
import inertial_id_ros.client
print("imported")
"""
LIBRARY = """
import inertial_id_ros.api, inertial_id_ros.export.formats, inertial_id_ros.targets.target
import inertial_id_ros.apps.report.payload_page, inertial_id_ros.apps.bag.output
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(OPTIONAL))
def test_without_any_one_of_them_a_payload_is_identified_and_the_node_imported(module: str) -> None:
    """The node where ROS is there."""
    with_ros = conftest.is_installed("rclpy")
    done = run_without({module}, LIBRARY + IDENTIFY + with_ros * IMPORT_NODE)
    assert done.stdout == "identified\n" + with_ros * "imported\n", done.stderr


@pytest.mark.slow
def test_without_all_of_them_the_library_identifies_a_payload() -> None:
    done = run_without(OPTIONAL, LIBRARY + IDENTIFY)
    assert done.stdout == "identified\n", done.stderr


FEATURES = [
    ("rosbags", "bags", "from inertial_id_ros.apps.bag.reader import BagReader\n"
     "BagReader({bag!r})"),
    ("rosbags", "bags", "import inertial_id_ros.apps.bag.black_box as r\n"
     "r.write_recording(__import__('pathlib').Path({bag!r}), [], [])"),
    ("rich", "bags", "import inertial_id_ros.apps.bag.identify_bag"),
    ("rich", "bags", "import inertial_id_ros.apps.robot.identify_robot"),
    ("trimesh", "shapes", "from inertial_id_ros.geometry.mesh import load_mesh\n"
     "load_mesh(__import__('pathlib').Path({mesh!r}))"),
    ("trimesh", "shapes", "import numpy\nfrom inertial_id_ros.geometry.shape import "
     "shape_from_primitive\nshape_from_primitive('box', [.1, .1, .1], numpy.eye(4))"),
    ("clarabel", "methods", "from inertial_id_ros.api import Settings\n"
     "from inertial_id_ros.estimators.base import create\ncreate(Settings(), 'lmi')"),
    ("clarabel", "methods", "import inertial_id_ros.apps.robot.robot_identification"),
    ("cvxpy", "methods", "from inertial_id_ros.api import Settings\n"
     "from inertial_id_ros.estimators.base import create\ncreate(Settings(), 'pmd')"),
    ("jinja2", "reports", "from inertial_id_ros.apps.report.page import render\n"
     "render('', None, ())"),
    ("matplotlib", "reports", "from inertial_id_ros.apps.report.figures import chart\n"
     "chart('', '', (), '', (0.0, 1.0))"),
    ("mujoco", "simulation", "from inertial_id_ros.apps.simulation.cobot import SimulatedCobot"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "extra", "use"), FEATURES)
def test_a_feature_says_which_package_it_misses_and_how_to_get_it(
        module: str, extra: str, use: str, tmp_path: Path) -> None:
    bag, mesh = tmp_path / "bag.mcap", tmp_path / "box.stl"
    bag.write_bytes(b"\x89MCAP0\r\n")
    mesh.write_bytes(b"solid box\nendsolid box\n")
    lines = use.format(bag=str(bag), mesh=str(mesh)).replace("\n", "\n    ")
    done = run_without({module}, "from inertial_id_ros.errors import MissingPackage\n"
                       f"try:\n    {lines}\nexcept MissingPackage as error:\n    print(error)\n")
    assert done.stdout.count("\n") == 1, (done.stdout, done.stderr)
    said = (f"needs the Python package '{module}', which is missing; install it with `pip install "
            f'"inertial-id-ros[{extra}]"` or `pip install {module}`')
    assert done.stdout.endswith(said + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_a_program_ends_with_the_sentence_and_no_traceback(tool: str, tmp_path: Path) -> None:
    """Or it works: export_payload and plan_excitation need none of them to print their help."""
    code = f"from inertial_id_ros.cli import {tool} as run\nraise SystemExit(run())"
    done = run_without(OPTIONAL, code, *([] if tool.startswith("identify") else ["--help"]))
    if tool.startswith("identify"):
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
        assert 'pip install "inertial-id-ros[' in done.stderr
    else:
        assert done.returncode == 0 and f"usage: {tool}" in done.stdout, done.stderr


def test_a_missing_package_that_no_extra_has_raises_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), optional_packages("a test"):
        import_module("no_such_module")


def test_the_error_is_one_of_the_package_and_no_import_error() -> None:
    """So that whoever catches the one does not swallow the other."""
    assert issubclass(MissingPackage, InertialIdError)
    assert not issubclass(MissingPackage, ImportError)


def test_the_page_on_installing_names_every_extra() -> None:
    text = (ROOT / "docs" / "install.md").read_text()
    assert [extra for extra in EXTRAS if f"`{extra}`" not in text] == []


@pytest.mark.parametrize(("text", "package"), [
    ("No module named 'mujoco'", "mujoco"), ("No module named 'pxr.Usd'", "pxr"),
    ("drawing needs the Python package 'rosbags', which is missing", "rosbags"),
    ("No module named 'numpy'", ""), ("No module named 'inertial_id_ros.foo'", ""), ("1 == 2", "")])
def test_a_test_is_skipped_only_for_an_optional_package_that_is_not_installed(
        monkeypatch: pytest.MonkeyPatch, text: str, package: str) -> None:
    there: dict[str, bool] = {}
    monkeypatch.setattr(conftest, "is_installed", lambda module: there.get("all", False))
    assert conftest.missing_package(text) == package
    there["all"] = True
    assert conftest.missing_package(text) == ""
