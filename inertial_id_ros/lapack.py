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


def _load(public: str) -> Any:
    """The extension module behind a module of `scipy.linalg`, from its file; that module itself
    where SciPy keeps it elsewhere, or has loaded it already."""
    name, package = f"scipy.linalg._f{public}", find_spec("scipy")
    folders = package.submodule_search_locations if package is not None else None
    if "scipy.linalg" not in sys.modules:
        for file in (Path(folder, "linalg", f"_f{public}{suffix}") for folder in folders or ()
                     for suffix in EXTENSION_SUFFIXES):
            spec = spec_from_file_location(name, file) if file.is_file() else None
            if spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    return import_module(f"scipy.linalg.{public}")


lapack, blas = _load("lapack"), _load("blas")
