# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Python code that runs as on a machine where some packages are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

_TESTS = Path(__file__).resolve().parent
# Looked at before all other finders: what it refuses is missing, wherever it is installed.
_REFUSE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r} and path is None:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
"""


def code_without(modules: Collection[str], code: str) -> str:
    """Code in which none of the top-level modules can be imported."""
    return _REFUSE.format(modules=set(modules)) + code


def run_without(modules: Collection[str], code: str,
                *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own in which none of the modules can be imported."""
    paths = [str(_TESTS.parent), str(_TESTS), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, "-c", code_without(modules, code), *arguments], capture_output=True,
        text=True, timeout=120.0, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
