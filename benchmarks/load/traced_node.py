# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node under tracemalloc: at its end it prints which lines of source have grown since five
minutes after the start."""

from __future__ import annotations

import sys
import threading
import tracemalloc

_SETTLED = 300.0  # s
_LINES = 15


def main() -> int:
    """Entry point; arguments as those of the node."""
    tracemalloc.start(1)
    from inertial_id_ros.ros.main import main as run_node

    first: list[tracemalloc.Snapshot] = []
    timer = threading.Timer(_SETTLED, lambda: first.append(tracemalloc.take_snapshot()))
    timer.daemon = True
    timer.start()
    status = run_node(sys.argv[1:])
    if first:
        grown = tracemalloc.take_snapshot().compare_to(first[0], "lineno")
        print(f"of {sum(s.size_diff for s in grown) / 1e6:.2f} MB that Python objects have grown:")
        for line in grown[:_LINES]:
            where = line.traceback[0]
            print(f"  {line.size_diff / 1e3:+9.1f} kB  {line.count_diff:+7d}  "
                  f"{where.filename}:{where.lineno}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
