# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.apps.bag.output import check_writable
from inertial_id_ros.errors import InvalidSetting, InvalidShape
from inertial_id_ros.geometry.mesh import load_mesh


def test_results_never_take_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    """A file is written by renaming, which would remove them."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidSetting, match="no regular file"):
        check_writable(tmp_path / "pipe", "--json")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", ["1e300", "-1e30", "1e7"])
def test_a_mesh_of_absurd_size_is_refused_without_a_word_of_the_libraries(
        number: str, tmp_path: Path) -> None:
    file = tmp_path / "m.off"
    file.write_text(f"OFF\n4 4 6\n0 0 0\n{number} 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n"
                    "3 1 2 3\n")
    with pytest.raises(InvalidShape, match="from its origin; at most"):
        load_mesh(file)
    np.save(tmp_path / "m.npy", np.array([[0, 0, 0], [float(number), 0, 0], [0, 1, 0], [0, 0, 1]]))
    with pytest.raises(InvalidShape, match="from its origin; at most"):
        load_mesh(tmp_path / "m.npy")
