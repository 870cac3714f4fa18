"""Entry point of ``inertial_id_node``; the node itself is `identification.InertialIdNode`.

Nothing heavy is imported before signals are taken care of: the libraries load for a second, and a
launch file may stop the node within that time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..command import exit_at_once


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit status (2: a bad setting).

    Args:
        arguments: command line without the program's name; default: that of the process.
    """
    exit_at_once()
    # Our matrices are small: more threads only cost processor time that the robot's driver needs.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    from .identification import run

    return run(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
