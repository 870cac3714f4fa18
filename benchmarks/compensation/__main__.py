# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is left of the payload in the compensated wrench, and how late it comes.

    python -m benchmarks.compensation latency [--seconds 30]

needs a built package, and a quiet machine: the load average stands beside.
"""

from __future__ import annotations

import argparse


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compensation",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("part", choices=("latency",))
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    from benchmarks.compensation.latency import measure

    measure(options.seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
