# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Interfaces of drivers, written down from their public definitions and generated when a test needs
them: the packages themselves are not at hand.

Names, types and order of the fields are those of the definitions that docs/apply.md names; of
FrankaRobotState only what is read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

DEFINITIONS = {
    "ur_msgs/srv/SetPayload": """
float32 mass
geometry_msgs/Vector3 center_of_gravity
float64 ixx
float64 iyy
float64 izz
float64 ixy
float64 ixz
float64 iyz
builtin_interfaces/Duration transition_time
---
bool success
""",
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    "control_msgs/msg/DynamicJointState": """
std_msgs/Header header
string[] joint_names
InterfaceValue[] interface_values
""",
    "franka_msgs/srv/SetLoad": """
float64 mass
float64[3] center_of_mass
float64[9] load_inertia
---
bool success
string error
""",
    "franka_msgs/msg/FrankaRobotState": """
std_msgs/Header header
geometry_msgs/InertiaStamped inertia_load
uint8 robot_mode
""",
    "xarm_msgs/srv/SetTcpLoad": """
float32 weight
float32[] center_of_gravity
---
int32 ret
string message
""",
    "dsr_msgs2/srv/ConfigCreateTool": """
string name
float64 weight
float64[3] cog
float64[6] inertia
---
bool success
""",
    "dsr_msgs2/srv/ConfigDeleteTool": "string name\n---\nbool success\n",
    "dsr_msgs2/srv/SetCurrentTool": "string name\n---\nbool success\n",
    "dsr_msgs2/srv/GetCurrentTool": "---\nstring info\nbool success\n",
    "fanuc_msgs/srv/SetPayloadComp": """
uint16 payload_schedule_id
float32 mass
float32 cg_x
float32 cg_y
float32 cg_z
float32 in_x
float32 in_y
float32 in_z
---
int32 result
""",
    "fanuc_msgs/srv/SetPayloadValue": """
uint16 payload_schedule_id
float32 mass
float32 cg_x
float32 cg_y
float32 cg_z
bool use_in
float32 in_x
float32 in_y
float32 in_z
---
int32 result
""",
    "dobot_msgs_v4/srv/SetPayload":
        "float64 load\nfloat64 x\nfloat64 y\nfloat64 z\n---\nint32 res\n",
}
_DEPENDENCIES = ("builtin_interfaces", "geometry_msgs", "std_msgs")
_PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>{name}</name><version>0.0.1</version><description>Stand-in</description>
  <maintainer email="nobody@stand-in.example">nobody</maintainer><license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  {depends}
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""
_CMAKE = """cmake_minimum_required(VERSION 3.16)
project({name})
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
{finds}
# Python needs nothing of C++, which takes the most time to compile.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
rosidl_generate_interfaces(${{PROJECT_NAME}} {files} DEPENDENCIES {dependencies})
ament_package()
"""


def build(folder: Path) -> Path:
    """Generate all packages and install them below `folder / "prefix"`, which it returns."""
    source, prefix = folder / "src", folder / "prefix"
    names = sorted({name.split("/")[0] for name in DEFINITIONS})
    for name in names:
        _write_package(source / name, name)
    (source / "CMakeLists.txt").write_text("\n".join([
        "cmake_minimum_required(VERSION 3.16)", "project(stand_ins)",
        *(f"add_subdirectory({name})" for name in names)]))
    cmake = shutil.which("cmake")
    assert cmake is not None, "cmake is needed to generate interfaces"
    prefixes = os.environ["AMENT_PREFIX_PATH"].replace(os.pathsep, ";")
    for words in (
            ["-S", source, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefixes}",
             f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DPython3_EXECUTABLE={sys.executable}",
             "-DBUILD_TESTING=OFF", "--no-warn-unused-cli",
             *(["-G", "Ninja"] if shutil.which("ninja") else [])],
            ["--build", folder / "build", "-j", "2"], ["--install", folder / "build"]):
        done = subprocess.run([cmake, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return prefix


def variables(prefix: Path) -> dict[str, str]:
    """Variables with which processes find what was generated, before all else."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = {"PYTHONPATH": prefix / "lib" / version / "site-packages",
              "LD_LIBRARY_PATH": prefix / "lib", "AMENT_PREFIX_PATH": prefix}
    if not places["PYTHONPATH"].is_dir():  # a distribution that installs elsewhere
        places["PYTHONPATH"] = prefix / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    return {name: os.pathsep.join(filter(None, [str(place), os.environ.get(name, "")]))
            for name, place in places.items()}


def _write_package(folder: Path, name: str) -> None:
    """The sources of a package."""
    files = []
    for definition, text in DEFINITIONS.items():
        package, kind, message = definition.split("/")
        if package == name:
            path = folder / kind / f"{message}.{kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            files.append(f"{kind}/{path.name}")
    (folder / "package.xml").write_text(_PACKAGE.format(
        name=name, depends="".join(f"<depend>{d}</depend>" for d in _DEPENDENCIES)))
    (folder / "CMakeLists.txt").write_text(_CMAKE.format(
        name=name, files=" ".join(files), dependencies=" ".join(_DEPENDENCIES),
        finds="\n".join(f"find_package({d} REQUIRED)" for d in _DEPENDENCIES)))
