# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is left of the payload in the compensated wrench, and how late it comes.

    python -m benchmarks.compensation accuracy
    python -m benchmarks.compensation campaign [--runs 90]
    python -m benchmarks.compensation latency [--seconds 30]

The last one needs a built package, and a quiet machine: the load average stands beside.
"""

from __future__ import annotations

import argparse


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compensation",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("part", choices=("accuracy", "campaign", "latency"))
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row of latency")
    parser.add_argument("--runs", type=int, default=90, help="of the campaign, of 40 s each")
    options = parser.parse_args()
    if options.part == "accuracy":
        from benchmarks.compensation import accuracy

        accuracy.measure()
    elif options.part == "campaign":
        from benchmarks.compensation import campaign

        campaign.measure(options.runs)
    else:
        from benchmarks.compensation import latency

        latency.measure(options.seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
