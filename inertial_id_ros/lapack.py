# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""SciPy's bindings of LAPACK and BLAS, alone.

``import scipy.linalg`` brings half of SciPy, and NumPy's testing and Fortran tools: a fifth of the
time in which a program of this package starts.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


def _load(name: str) -> Any:
    """An extension module of `scipy.linalg`: from its file, or as SciPy loads it."""
    whole, package = f"scipy.linalg.{name}", find_spec("scipy")
    folders = package.submodule_search_locations if package is not None else None
    if whole not in sys.modules:
        for file in (Path(folder, "linalg", name + suffix) for folder in folders or ()
                     for suffix in EXTENSION_SUFFIXES):
            spec = spec_from_file_location(whole, file) if file.is_file() else None
            if spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    return import_module(whole)


lapack, blas = _load("_flapack"), _load("_fblas")
