# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the build files say about the package agrees with each other and with the source tree."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.arguments import VERSION
from inertial_id_ros.extras import EXTRAS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "inertial_id_ros"
COMMAND = "inertial_id_ros.cli"
EXECUTABLES = {
    "export_payload": "inertial_id_ros.apps.export_payload",
    "identify_bag": "inertial_id_ros.apps.bag.identify_bag",
    "identify_payload": "inertial_id_ros.ros.guide.identify_payload",
    "identify_robot": "inertial_id_ros.apps.robot.identify_robot",
    "inertial_id_demo": "inertial_id_ros.ros.tools.demo",
    "inertial_id_node": "inertial_id_ros.ros.main",
    "plan_excitation": "inertial_id_ros.apps.excitation.plan_excitation",
    "simulate_cobot": "inertial_id_ros.ros.tools.simulate_cobot",
}


# Executables


def call_argument(file: Path, function: str, keyword: str) -> ast.expr:
    """Return the value of `keyword` in the call of `function` in a Python file."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function:
            return next(k.value for k in node.keywords if k.arg == keyword)
    raise AssertionError(f"{file.name} does not call {function}")


def test_setup_py_declares_each_executable():
    points = ast.literal_eval(call_argument(ROOT / "setup.py", "setup", "entry_points"))
    declared = dict(line.split(" = ") for line in points["console_scripts"])
    assert declared == {name: f"{COMMAND}:{name}" for name in EXECUTABLES}


def test_cmake_installs_each_executable():
    programs = re.search(r"install\(PROGRAMS(.*?)DESTINATION lib/", cmake_lists(), re.S)
    assert programs is not None
    assert sorted(programs[1].split()) == sorted(f"scripts/{name}" for name in EXECUTABLES)


def test_scripts_are_executable_and_start_the_entry_point_of_their_name():
    scripts = {p.name: p for p in (ROOT / "scripts").iterdir() if p.is_file() and not p.suffix}
    assert set(scripts) == set(EXECUTABLES)
    for name, script in scripts.items():
        assert os.access(script, os.X_OK), name
        assert script.read_text().startswith("#!/usr/bin/env python3\n"), name
        imports = [n for n in ast.parse(script.read_text()).body if isinstance(n, ast.ImportFrom)]
        assert [(i.module, i.names[0].name) for i in imports] == [(COMMAND, name)]


def test_each_entry_point_starts_its_module():
    functions = {n.name: n for n in ast.parse((PACKAGE / "cli.py").read_text()).body
                 if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")
                 and not n.args.args and n.returns is not None
                 and ast.unparse(n.returns) == "int"}
    started = {name: [n.value for n in ast.walk(function) if isinstance(n, ast.Constant)
                      and str(n.value).startswith("inertial_id_ros.")]
               for name, function in functions.items()}
    assert started == {name: [module] for name, module in EXECUTABLES.items()}


@pytest.mark.parametrize("module", EXECUTABLES.values())
def test_the_module_of_each_executable_defines_main(module: str):
    file = ROOT / (module.replace(".", "/") + ".py")
    functions = [n.name for n in ast.parse(file.read_text()).body if isinstance(n, ast.FunctionDef)]
    assert "main" in functions


# Source tree


def python_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)


def imported_modules(file: Path) -> Iterator[str]:
    """Yield the absolute names of the modules that a file imports, at any depth."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = file.parent.relative_to(ROOT).parts
            base = package[: len(package) - node.level + 1]
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


ROS_MODULE = re.compile(
    r"(rclpy|rpyutils|rosidl_\w+|launch|launch_ros|ament_index_python|tf2_\w+|tf_transformations"
    r"|builtin_interfaces|rcl_interfaces|std_srvs|\w+_msgs|inertial_id_ros\.(ros|msg|srv|action))"
    r"(\.|$)"
)


@pytest.mark.slow
def test_only_the_ros_folder_imports_ros():
    # client.py gives the client for programs of ROS a place that stays; nothing imports it.
    files = [file for file in python_files(PACKAGE)
             if PACKAGE / "ros" not in file.parents and file != PACKAGE / "client.py"]
    assert files
    found = {
        str(file.relative_to(ROOT)): name
        for file in files
        for name in imported_modules(file)
        if ROS_MODULE.match(name)
    }
    # A command outside ros/ would not start on a machine without ROS.
    assert not found
    imports = {name for file in python_files(PACKAGE) for name in imported_modules(file)}
    assert "inertial_id_ros.client" not in imports


def test_every_folder_with_python_files_is_a_package():
    folders = {file.parent for file in python_files(PACKAGE)}
    assert [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()] == []


def test_nothing_that_is_needed_stands_in_the_root_package():
    # A newer ROS 2 may replace this file by an empty one.
    body = ast.parse((PACKAGE / "__init__.py").read_text()).body
    names = {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    assert names <= {"__path__", "__name__", "extend_path"}


def test_types_of_the_installed_package_are_declared():
    data = ast.literal_eval(call_argument(ROOT / "setup.py", "setup", "package_data"))
    assert "py.typed" in data["inertial_id_ros"] and (PACKAGE / "py.typed").is_file()
    # CMake installs the whole folder, with all that it leaves out named.
    folder = re.search(r"install\(DIRECTORY inertial_id_ros/(.*?)\)", cmake_lists(), re.S)
    assert folder is not None and re.findall(r'"(.*?)"', folder[1]) == ["__pycache__"]


# Interfaces


def cmake_lists() -> str:
    lines = (ROOT / "CMakeLists.txt").read_text().splitlines()
    return "\n".join(line.split("#")[0] for line in lines)


def interface_files() -> list[Path]:
    return sorted(f for kind in ("msg", "srv", "action") for f in (ROOT / kind).glob(f"*.{kind}"))


def test_cmake_generates_every_interface_file():
    listed = re.findall(r'"((?:msg|srv|action)/\w+\.\w+)"', cmake_lists())
    assert sorted(listed) == [f.relative_to(ROOT).as_posix() for f in interface_files()]


def test_packages_that_the_interfaces_use_are_declared():
    used = {
        name
        for file in interface_files()
        for name in re.findall(r"^(\w+)/\w+", file.read_text(), re.M)
    }
    declared = re.search(r"DEPENDENCIES ([\w\s]+)\)", cmake_lists())
    assert declared is not None
    assert set(declared[1].split()) == used
    assert used <= {element.text for element in package_xml().findall("depend")}


def fields(text: str) -> list[str]:
    """Return the field names of one part of an interface file; constants are not fields."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return [line[1] for line in lines if len(line) == 2 and "=" not in line[1]]


def generated(kind: str, name: str) -> type:
    """Return a generated class; where it is missing, say how it comes about."""
    try:
        module = importlib.import_module(f"inertial_id_ros.{kind}")
    except ImportError as error:
        pytest.fail(f"the interfaces are not built or not on the path (make setup): {error}")
    return getattr(module, name)


@pytest.mark.ros
@pytest.mark.parametrize("file", sorted((ROOT / "msg").glob("*.msg")), ids=lambda file: file.stem)
def test_generated_messages_have_the_fields_of_their_files(file: Path):
    message = generated("msg", file.stem)
    assert list(message.get_fields_and_field_types()) == fields(file.read_text())


@pytest.mark.ros
@pytest.mark.parametrize("file", sorted((ROOT / "srv").glob("*.srv")), ids=lambda file: file.stem)
def test_generated_services_have_the_fields_of_their_files(file: Path):
    service = generated("srv", file.stem)
    request, response = re.split(r"^---$", file.read_text(), flags=re.M)
    assert list(service.Request.get_fields_and_field_types()) == fields(request)
    assert list(service.Response.get_fields_and_field_types()) == fields(response)


@pytest.mark.ros
@pytest.mark.parametrize("file", sorted((ROOT / "action").glob("*.action")),
                         ids=lambda file: file.stem)
def test_generated_actions_have_the_fields_of_their_files(file: Path):
    action = generated("action", file.stem)
    parts = re.split(r"^---$", file.read_text(), flags=re.M)
    for kind, part in zip((action.Goal, action.Result, action.Feedback), parts, strict=True):
        assert list(kind.get_fields_and_field_types()) == fields(part)


@pytest.mark.ros
def test_the_shape_of_an_action_has_the_fields_of_the_service():
    request = generated("srv", "SetShape").Request.get_fields_and_field_types()
    assert generated("msg", "Shape").get_fields_and_field_types() == request


@pytest.mark.ros
def test_verdict_constants_of_the_message_are_those_documented():
    message = generated("msg", "InertialParameters")
    assert (message.UNOBSERVED, message.PRIOR_DOMINATED, message.IDENTIFIED) == (0, 1, 2)
    assert message().covariance.shape == (100,)


def test_modules_are_imported_from_the_source_tree():
    import inertial_id_ros.errors

    assert Path(inertial_id_ros.errors.__file__) == PACKAGE / "errors.py"


# Versions and requirements


def package_xml() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "package.xml").getroot()


def test_package_xml_setup_py_and_changelog_name_one_version():
    version = package_xml().findtext("version")
    assert ast.literal_eval(call_argument(ROOT / "setup.py", "setup", "version")) == version
    assert version == VERSION  # what --version says
    heads = re.findall(r"^(\d+\.\d+\.\d+) \(.*\)$", (ROOT / "CHANGELOG.rst").read_text(), re.M)
    assert heads[0] == version


def requirements(file: str) -> dict[str, str]:
    """Return the lines of a requirements file by the lower-case name they start with."""
    lines = (ROOT / "requirements" / file).read_text().splitlines()
    stripped = (line.split("#")[0].strip() for line in lines)
    return {re.split(r"[<>=]", line)[0].lower(): line for line in stripped if line}


REQUIREMENTS = ("build.txt", "run.txt", "dev.txt", "jazzy.txt", "kilted.txt", "docs.txt")


@pytest.mark.parametrize("file", REQUIREMENTS)
def test_every_requirement_is_pinned(file: str):
    assert [line for line in requirements(file).values() if "==" not in line] == []


def locked(file: str) -> dict[str, list[str]]:
    """Return the hashes of each line of a locked file by its pin, with its marker."""
    text = (ROOT / "requirements" / "locked" / file).read_text().replace("\\\n", " ")
    lines = (line.split(" --hash=") for line in text.splitlines() if not line.startswith("#"))
    return {line[0].strip(): [part.strip() for part in line[1:]] for line in lines}


@pytest.mark.parametrize("file", REQUIREMENTS)
def test_everything_that_pip_installs_is_locked_with_its_hash(file: str):
    for pin, hashes in locked(file).items():
        assert re.match(r"[a-z0-9-]+==[a-z0-9.]+( ; .*)?$", pin), pin
        assert hashes, pin
        assert [h for h in hashes if not re.fullmatch(r"sha256:[0-9a-f]{64}", h)] == [], pin


def test_requirements_name_no_index():
    # Where packages come from, the user's pip knows; whether they are the right ones, the hashes.
    for file in (ROOT / "requirements").rglob("*.txt"):
        assert re.findall(r"https?:|file:|--(?:extra-)?index|--find-links", file.read_text()) == []


def test_requirements_were_locked_after_their_last_change():
    pins = {pin.split(" ;")[0] for file in REQUIREMENTS for pin in locked(file)}
    for file in REQUIREMENTS:
        for line in (ROOT / "requirements" / file).read_text().splitlines():
            pin = re.split(r"[;#]", line)[0].strip().lower().replace("_", "-")
            assert pin in {"", *pins}, f"{file}: {pin} (make lock)"


def test_setup_py_names_the_libraries_of_the_run_requirements():
    core, extras = libraries_of_setup_py()
    optional = set().union(*extras.values())
    assert core | optional == set(requirements("run.txt")) and not core & optional
    assert set(requirements("system.txt")) - {"numpy"} <= optional


def libraries_of_setup_py() -> tuple[set[str], dict[str, set[str]]]:
    """Lower-case names of the packages that setup.py requires, and those of each extra."""
    def names(lines: list[str]) -> set[str]:
        return {re.split(r"[<>=]", line)[0].lower() for line in lines}

    text = (ROOT / "setup.py").read_text()
    table = next(node.value for node in ast.parse(text).body if isinstance(node, ast.Assign))
    requires = ast.literal_eval(call_argument(ROOT / "setup.py", "setup", "install_requires"))
    return names(requires), {extra: names(lines)
                             for extra, lines in ast.literal_eval(table).items()}


def test_extras_of_setup_py_are_those_that_messages_name():
    named = {extra: {(package or module).lower() for module, package in modules.items()}
             for extra, modules in EXTRAS.items()}
    assert libraries_of_setup_py()[1] == named


def test_rosdep_installs_all_that_the_core_requires():
    keys = {"numpy": "python3-numpy", "scipy": "python3-scipy", "pin": "pinocchio",
            "pyyaml": "python3-yaml", "transforms3d": "python3-transforms3d"}
    core = libraries_of_setup_py()[0] - {"coal"}  # which Pinocchio brings along
    assert {keys[name] for name in core} <= {
        str(element.text) for element in package_xml().iter("exec_depend")}


# Names of modules that differ from those of the packages on PyPI that hold them.
MODULES = {"pin": "pinocchio", "backports-zstd": "backports", "pyyaml": "yaml", "usd-core": "pxr"}


def names_of(files: Iterable[Path]) -> set[str]:
    """What the modules of files, and the inner folders that hold them, are imported as."""
    return {name for file in files for name in (
        file.stem, *([] if file.parent.parent == ROOT else [file.parent.name]))}


def third_party_imports(*folders: str) -> set[str]:
    """Top-level modules that the Python files of folders import: neither standard nor local."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    found: set[str] = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text()))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).partition(".")[0])
    # launch/ holds files, and the library that they import has its name.
    local = {"inertial_id_ros", "benchmarks", *names_of(files)} - {"launch"}
    return found - local - sys.stdlib_module_names - {"compression"}  # standard from 3.14 on


def ros_packages() -> set[str]:
    """Packages of ROS that package.xml names for use by programs."""
    names = {str(e.text) for kind in ("depend", "exec_depend") for e in package_xml().iter(kind)}
    return {n for n in names if not n.startswith(("python3-", "rosidl_default_"))}


def modules_of(file: str) -> dict[str, str]:
    """Module by the name of its package in a requirements file."""
    return {name: MODULES.get(name, name) for name in requirements(file)}


@pytest.mark.parametrize(("folder", "files"), [
    ("inertial_id_ros", ["run.txt"]), ("launch", ["run.txt"]), ("docs", ["run.txt", "dev.txt"]),
    ("test", ["run.txt", "dev.txt"]), ("benchmarks", ["run.txt", "dev.txt"])])
def test_every_import_is_declared(folder: str, files: list[str]):
    declared = {module for file in files for module in modules_of(file).values()} | ros_packages()
    if folder in ("test", "benchmarks"):
        declared |= {str(element.text) for element in package_xml().iter("test_depend")}
    if folder == "docs":
        declared |= {"mpl_toolkits", "PIL"}  # matplotlib brings and needs them
    helpers = names_of((ROOT / "test").rglob("*.py"))  # benchmarks use some of them
    assert third_party_imports(folder) - declared - helpers == set()


def test_every_declared_library_is_imported_or_said_to_be_needed_by_another():
    imported = third_party_imports("inertial_id_ros")
    text = (ROOT / "requirements" / "run.txt").read_text().lower()
    for name, module in modules_of("run.txt").items():
        needed = re.search(rf"^{re.escape(name)}==.*# needed by (\w+)", text, re.M)
        assert (module in imported) != (needed is not None), name
        if needed is not None:
            assert needed[1] in {*requirements("run.txt"), *ros_packages()}, name


def test_every_declared_ros_package_is_used():
    files = [file for kind in ("msg", "srv", "action") for file in (ROOT / kind).iterdir()]
    interfaces = {package for file in files
                  for package in re.findall(r"^(\w+)/\w+", file.read_text(), re.M)}
    unused = ros_packages() - third_party_imports("inertial_id_ros", "launch") - interfaces
    assert unused == {"control_msgs"}  # looked for by name, as not every ROS 2 has it


# The stand-in for tf_transformations


@pytest.fixture(scope="module")
def tf() -> ModuleType:
    """The stand-in itself, also where the ROS installation has the real package."""
    file = ROOT / "underlay" / "tf_transformations" / "tf_transformations" / "__init__.py"
    spec = importlib.util.spec_from_file_location("tf_transformations_stand_in", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def same_rotation(quaternion: object, expected: Rotation) -> bool:
    actual = Rotation.from_quat(np.asarray(quaternion, dtype=float))
    return bool((actual.inv() * expected).magnitude() < 1e-7)


@pytest.fixture(params=range(5))
def rotation(request: pytest.FixtureRequest) -> Rotation:
    quaternion = np.random.default_rng(request.param).normal(size=4)
    return Rotation.from_quat(quaternion)


def test_quaternion_matrix_is_the_homogeneous_matrix_of_scipy(tf: ModuleType, rotation: Rotation):
    expected = np.identity(4)
    expected[:3, :3] = rotation.as_matrix()
    np.testing.assert_allclose(tf.quaternion_matrix(3.0 * rotation.as_quat()), expected, atol=1e-12)


def test_quaternion_from_matrix_inverts_quaternion_matrix(tf: ModuleType, rotation: Rotation):
    matrix = np.identity(4)
    matrix[:3, :3] = rotation.as_matrix()
    matrix[:3, 3] = 1.0, 2.0, 3.0
    quaternion = tf.quaternion_from_matrix(matrix)
    assert quaternion[3] >= 0.0
    assert same_rotation(quaternion, rotation)


def test_euler_angles_are_roll_pitch_yaw_about_fixed_axes(tf: ModuleType, rotation: Rotation):
    angles = rotation.as_euler("xyz")
    np.testing.assert_allclose(tf.euler_from_quaternion(rotation.as_quat()), angles, atol=1e-9)
    assert same_rotation(tf.quaternion_from_euler(*angles), rotation)


def test_euler_angles_about_moving_axes_follow_the_axes_argument(
    tf: ModuleType, rotation: Rotation
):
    angles = rotation.as_euler("ZYX")
    quaternion = rotation.as_quat()
    np.testing.assert_allclose(tf.euler_from_quaternion(quaternion, "rzyx"), angles, atol=1e-9)
    assert same_rotation(tf.quaternion_from_euler(*angles, "rzyx"), rotation)


def test_quaternion_multiply_applies_the_second_argument_first(tf: ModuleType, rotation: Rotation):
    other = Rotation.from_euler("xyz", [0.3, -0.7, 1.9])
    product = tf.quaternion_multiply(rotation.as_quat(), other.as_quat())
    assert same_rotation(product, rotation * other)


def test_quaternion_inverse_undoes_a_quaternion_of_any_length(tf: ModuleType, rotation: Rotation):
    quaternion = 2.0 * rotation.as_quat()
    product = tf.quaternion_multiply(quaternion, tf.quaternion_inverse(quaternion))
    np.testing.assert_allclose(product, [0.0, 0.0, 0.0, 1.0], atol=1e-12)
