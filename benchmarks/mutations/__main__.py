# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.mutations`."""

import os

# One thread, so that a fork of the process is safe.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from .run import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
