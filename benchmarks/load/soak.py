# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Memory of the node over hours at full rate, and where it goes.

    python -m benchmarks.load.soak [--hours 2] [--rate 2000] [--heap]

streams wrench, joint states and TF to a node and reads its resident memory once a minute. With
--heap the node runs under tracemalloc, which takes several times the processor time: at the end it
names the lines of source whose memory has grown since the first five minutes. Needs a built
package.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from inertial_id_ros.ros.program import private_environment

_SETTLED = 300.0  # s after which memory must not grow
_MOST = 5.0  # MB it may grow
_STEP = 60.0  # s between two looks
_AREAS = ("[heap]", "[stack]", "anonymous", "files")


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where memory has grown too much."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load.soak",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--rate", type=int, default=2000, help="of the wrench [Hz]")
    parser.add_argument("--heap", action="store_true", help="say which lines of source it is")
    options = parser.parse_args(arguments)
    os.environ.update(private_environment())
    module = "benchmarks.load.traced_node" if options.heap else "inertial_id_ros.ros.main"
    seconds = 3600.0 * options.hours
    node = _start(module, "--ros-args", "-p", "state.restore:=false")
    talker = _start("benchmarks.load.talker", str(options.rate), str(options.rate // 2), "100",
                    str(seconds), "4")
    try:
        sizes = _watch(node, seconds)
        node.send_signal(signal.SIGTERM)
        said = node.communicate(timeout=120.0)[0]
    finally:
        for process in (node, talker):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return _report(sizes, said, options.rate)


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that leads a group, since it may have helpers."""
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE,
                            text=True, start_new_session=True)


def _watch(node: subprocess.Popen[str], seconds: float) -> list[tuple[float, dict[str, float]]]:
    """Times [s] and memory by area [MB] until the end."""
    sizes, begin = [], time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        time.sleep(min(_STEP, seconds - now))
        sizes.append((time.monotonic() - begin, _memory(node.pid)))
        print(f"\r{sizes[-1][0]:.0f} s: {sum(sizes[-1][1].values()):.1f} MB", end="",
              file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return sizes


def _memory(pid: int) -> dict[str, float]:
    """Resident memory of a process by area [MB] (Linux)."""
    sizes, area = dict.fromkeys(_AREAS, 0.0), ""
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="ascii", errors="replace").split(
            "\n"):
        words = line.split()
        if words and "-" in words[0] and not words[0].endswith(":"):
            name = words[5] if len(words) > 5 else ""
            area = name if name in _AREAS else "files" if name.startswith("/") else "anonymous"
        elif line.startswith("Rss:"):
            sizes[area] += int(words[1]) / 1024.0
    return sizes


def _report(sizes: list[tuple[float, dict[str, float]]], said: str, rate: int) -> int:
    """Print the table; 1 where memory has grown too much."""
    settled = next((s for t, s in sizes if t >= _SETTLED), sizes[-1][1])
    last, grown = sizes[-1], sum(sizes[-1][1].values()) - sum(settled.values())
    print(f"{last[0] / 3600.0:.2f} h at {rate} Hz; memory after {_SETTLED:.0f} s, at the end, grown"
          " [MB]")
    print("| area | after | end | grown |\n|---|---|---|---|")
    for area in _AREAS:
        print(f"| {area} | {settled[area]:.1f} | {last[1][area]:.1f} | "
              f"{last[1][area] - settled[area]:.1f} |")
    print(f"| all | {sum(settled.values()):.1f} | {sum(last[1].values()):.1f} | {grown:.1f} |")
    if said.strip():
        print(f"\n{said.strip()}")
    return int(grown > _MOST)


if __name__ == "__main__":
    raise SystemExit(main())
