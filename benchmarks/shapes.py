# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time from a mesh file to a prior, on one core.

    python benchmarks/shapes.py

prints a Markdown table: reading the file, filling it with points, the prior of the density
estimator; then the shape of the same file once more at another pose, and the prior of the same
shape once more.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import trimesh

from inertial_id_ros.geometry.density_prior import density_prior
from inertial_id_ros.geometry.mesh import load_mesh
from inertial_id_ros.geometry.shape import (
    SIZES,
    shape_from_file,
    shape_from_mesh,
    shape_from_primitive,
)

T = TypeVar("T")


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Processor time [ms] of a run, so that other work on the machine does not count; its result.
    """
    start = time.process_time()
    result = run()
    return 1e3 * (time.process_time() - start), result


def bumpy_ball(subdivisions: int, rng: np.random.Generator) -> trimesh.Trimesh:
    """A ball of 10 cm with bumps; 20 * 4^subdivisions faces."""
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions, radius=0.1)
    waves = np.sin(40.0 * mesh.vertices @ rng.normal(size=(3, 3))).mean(axis=1)
    mesh.vertices = mesh.vertices * (1.0 + 0.1 * waves[:, None])
    return mesh


def files(folder: Path) -> dict[str, Path]:
    """The files to read, by what they are."""
    rng = np.random.default_rng(0)
    out = {}
    for mesh in (bumpy_ball(4, rng), bumpy_ball(6, rng),
                 trimesh.creation.torus(0.1, 0.01, major_sections=500, minor_sections=100),
                 trimesh.creation.annulus(0.098, 0.1, 0.3, sections=25_000)):
        file = folder / f"{len(out)}.stl"
        mesh.export(file)
        name = ("bumpy ball", "bumpy ball", "ring", "thin tube")[len(out)]
        out[f"{name}, {len(mesh.faces)} faces"] = file
    points = bumpy_ball(6, rng).vertices
    np.save(folder / "scan.npy", points)
    out[f"{len(points)} points of a scan"] = folder / "scan.npy"
    return out


def main() -> None:
    """Print the table."""
    shape_from_mesh(trimesh.creation.box(), np.eye(4))  # imports
    print("| shape | reading, ms | filling, ms | prior, ms | file again, ms | prior again, ms |\n"
          "|---|---|---|---|---|---|")
    pose = trimesh.transformations.rotation_matrix(0.3, [0.0, 0.0, 1.0])
    with tempfile.TemporaryDirectory() as folder:
        for name, file in files(Path(folder)).items():
            reading, mesh = timed(lambda file=file: load_mesh(file))
            filling, shape = timed(lambda mesh=mesh: shape_from_mesh(mesh, np.eye(4)))
            prior, _ = timed(lambda shape=shape: density_prior(shape))
            shape_from_file(file, 1.0, np.eye(4), False)
            placed, _ = timed(lambda file=file: shape_from_file(file, 1.0, pose, False))
            again, _ = timed(lambda shape=shape: density_prior(shape))
            print(f"| {name} | {reading:.0f} | {filling:.0f} | {prior:.0f} | {placed:.1f} | "
                  f"{again:.3f} |")
    for kind in SIZES:
        size = np.full(SIZES[kind], 0.1)
        filling, shape = timed(lambda kind=kind, size=size: shape_from_primitive(
            kind, size, np.eye(4)))
        prior, _ = timed(lambda shape=shape: density_prior(shape))
        again, _ = timed(lambda shape=shape: density_prior(shape))
        print(f"| {kind} | – | {filling:.0f} | {prior:.0f} | – | {again:.3f} |")


if __name__ == "__main__":
    main()
