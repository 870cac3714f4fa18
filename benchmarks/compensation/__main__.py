# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How late the compensated wrench of the node comes, beside a node that only echoes wrenches.

    python -m benchmarks.compensation [--seconds 30]

It needs a quiet machine: the load average stands beside. What remains of the payload in the
compensated wrench is measured by `benchmarks.referee`.
"""

from __future__ import annotations

import argparse

from . import latency


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compensation",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row")
    latency.measure(parser.parse_args().seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
