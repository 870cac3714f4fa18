# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.accuracy`."""

import os

# Small matrices: threads of the linear algebra cost more than they bring.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from .run import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
