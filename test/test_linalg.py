# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Factors of stacks of matrices, also with a NumPy that takes one matrix at a time."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from inertial_id_ros import linalg


@pytest.mark.parametrize("takes_stacks", sorted({linalg._TAKES_STACKS, False}))
@pytest.mark.parametrize("shape", [(7, 3), (5, 7, 3), (2, 3, 7, 3)])
def test_factors_of_a_stack_are_those_of_its_matrices(
        monkeypatch: pytest.MonkeyPatch, takes_stacks: bool, shape: tuple[int, ...]) -> None:
    """Q is orthonormal, and R is what it leaves of the rows; fewer rows than columns are padded."""
    monkeypatch.setattr(linalg, "_TAKES_STACKS", takes_stacks)
    rows = np.random.default_rng(0).normal(size=shape)
    bases, upper = linalg.orthonormal_bases(rows), linalg.triangular_factors(rows)
    np.testing.assert_allclose(np.swapaxes(bases, -1, -2) @ bases,
                               np.broadcast_to(np.eye(3), upper.shape), atol=1e-12)
    np.testing.assert_allclose(bases @ upper, rows, atol=1e-12)
    few = rows[..., :2, :]
    padded = linalg.triangular_factors(few)
    np.testing.assert_allclose(np.swapaxes(padded, -1, -2) @ padded,
                               np.swapaxes(few, -1, -2) @ few, atol=1e-12)


_ALONE = """
import sys
import numpy as np
from inertial_id_ros.lapack import blas, lapack
assert "scipy.linalg" not in sys.modules
import scipy.linalg
matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
assert lapack.dpotrf(matrix)[0].tolist() == scipy.linalg.lapack.dpotrf(matrix)[0].tolist()
assert (blas.dtrsm(1.0, matrix, matrix) == scipy.linalg.blas.dtrsm(1.0, matrix, matrix)).all()
"""


def test_lapack_loads_without_the_rest_of_scipy_and_beside_it() -> None:
    subprocess.run([sys.executable, "-c", _ALONE], check=True, timeout=60)
