# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.accuracy.real_sensors`: one line of figures for each source of error.

For example: `python -m benchmarks.accuracy.real_sensors --runs 20 --seed 1000 --sources white gain
--set wrench.gain_error=0.02 --workers 2 --seconds 8`. One run for a closer look:
`benchmarks.accuracy.real_sensors.recordings.simulate` and `.identify.identifier_of`.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra cost more than they bring.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from .command_line import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
