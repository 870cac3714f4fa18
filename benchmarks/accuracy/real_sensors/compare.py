# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The default estimator against others: `python -m benchmarks.accuracy.real_sensors.compare`.

Ratio of its mean errors to those of `wls`, `lmi` and `pmd` on the same recordings for every source,
motion, length and speed. Errors are in units of the Cramér-Rao bound of their recording (white
noise of the wrench, all else known, no prior): else the few in which it is largest would decide.
Cells in which the default loses more than 5 % to `wls` or `lmi` are partly the unlucky ones among
so many: they are measured again on fresh runs. The estimators answer on the same window, also where
the identifier would refuse.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from inertial_id_ros.errors import InertialIdError  # noqa: E402
from inertial_id_ros.identification.make_identifier import required_shape  # noqa: E402
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

from .. import bounds  # noqa: E402
from ..metrics import errors  # noqa: E402
from ..never_worse import ratio_of_means  # noqa: E402
from ..product import Answers, IdentifierForAll, compressed  # noqa: E402
from ..records import Row, read  # noqa: E402
from ..tables import grouped  # noqa: E402
from .arms import SENSOR_FRAME  # noqa: E402
from .command_line import (  # noqa: E402
    Task,
    draw_of,
    make_parser,
    map_tasks,
    run_sources,
    start,
)
from .identify import describe, settings_of  # noqa: E402
from .paths import KINDS, SPEEDS  # noqa: E402
from .recordings import Draw, Recording, simulate  # noqa: E402

OWN = Settings().estimator.method
ESTIMATORS = (OWN, "wls", "lmi", "pmd")
RIVALS = ("wls", "lmi")  # that the default must not lose to
MOST, FAST, ENOUGH = 1.05, 1.2, 10  # ratio; rad/s; pairs by which a cell is judged
FRESH = 1_000_000  # first seed of the runs that measure a cell again
ERRORS = {"e_m": "mass", "e_com": "centre of mass", "e_J": "inertia about the sensor"}
FIELDS = ("source", "seed", "object", "arm", "motion", "speed", "seconds", "estimator", "cell",
          "failure", *ERRORS, *(f"crb_{key}" for key in ERRORS))


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use)."""
    parser = make_parser("benchmarks.accuracy.real_sensors.compare", __doc__,
                         "real_sensors_compared")
    parser.set_defaults(sources=["white"], runs=100)
    parser.add_argument("--again", type=int, default=100, help="fresh runs of a cell that loses")
    options = parser.parse_args(arguments)
    try:
        changes, records = start(options, {"estimators": [*ESTIMATORS]}, FIELDS)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    work = partial(_run, draw=draw_of(options), changes=changes)
    for name, rows in run_sources(options, records, work):
        print(f"{name}: {len(rows) // len(ESTIMATORS)} runs", flush=True)
    for cell, tasks in _fresh_tasks(read(records.path), options.again).items():
        work = partial(_run, draw=_narrowed(draw_of(options), cell), changes=changes, cell=cell)
        for new in map_tasks(work, tasks, options.workers):
            records.add(new)
        print(f"{cell}: measured again", flush=True)
    text = "\n".join(page(read(records.path))) + "\n"
    (Path(options.output) / "compared.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def _fresh_tasks(rows: list[Row], count: int) -> dict[str, list[Task]]:
    """Runs that are still to be made of the cells that lose; each cell has seeds of its own."""
    cells = dict.fromkeys(case.cell for case in losing([r for r in rows if not r["cell"]]))
    done = {(r["source"], r["seed"]) for r in rows}
    tasks = {cell: [(cell.split(",")[0], FRESH + k * count + number) for number in range(count)]
             for k, cell in enumerate(cells)}
    return {cell: [task for task in own if task not in done] for cell, own in tasks.items()}


def _narrowed(draw: Draw, cell: str) -> Draw:
    """Draws of a cell alone."""
    for word in cell.split(", ")[1:]:
        if word in KINDS:
            draw = replace(draw, kinds=(word,))
        elif word.endswith(" s"):
            draw = replace(draw, lengths=(float(word[:-2]),))
        else:
            low, high = SPEEDS  # teaching has speeds of its own
            draw = replace(draw, kinds=tuple(k for k in draw.kinds if k != "teach"),
                           speeds=(FAST, high) if word == _speed(high) else (low, FAST))
    return draw


_answers = Answers()


def _run(task: Task, draw: Draw, changes: dict[str, Any], cell: str = "") -> list[Row]:
    """A row for each estimator; cell: that is measured again."""
    recording = simulate(*task, draw)
    truth, lengths = recording.payload.phi, recording.payload.lengths
    data = bounds.information(recording.exact, np.repeat(recording.source.white, 3), False)
    least = bounds.unbiased(data, truth, lengths)
    own = {**describe(recording), "cell": cell, "crb_e_m": least.mass, "crb_e_com": least.com,
           "crb_e_J": least.inertia}
    settings = settings_of(recording, changes)
    shape = required_shape(settings)
    assert shape is not None
    try:
        answers = _answers.solve(_window(recording, settings), shape, settings, [*ESTIMATORS])
    except InertialIdError as error:
        return [own | {"estimator": name, "failure": str(error)} for name in ESTIMATORS]
    out = []
    for name, answer in answers.items():
        row = own | {"estimator": name, "failure": answer.failure}
        if not answer.failure:
            found = errors(answer.phi, truth, lengths)
            row |= {"e_m": found.mass, "e_com": found.com, "e_J": found.inertia}
        out.append(row)
    return out


def _window(recording: Recording, settings: Settings) -> Any:
    """What the identifier keeps of a recording, with a clock offset taken out."""
    identifier = IdentifierForAll(settings, required_shape(settings))
    identifier.set_robot_description(recording.arm.urdf)
    identifier.add_arrays([
        JointStates(recording.joint_stamps, recording.arm.joint_names, recording.positions),
        Wrenches(recording.wrench_stamps, SENSOR_FRAME, recording.wrench)])
    identifier.finish()
    identifier.solve()
    return compressed(identifier)


# ---- tables --------------------------------------------------------------------------------------

class Ratio(NamedTuple):
    """Mean error of the default over another's, its standard error, and the number of pairs; own:
    that mean error, over the bound."""

    value: float
    error: float
    pairs: int
    own: float


class Case(NamedTuple):
    """An error of the default against that of another estimator in a cell."""

    cell: str
    key: str
    rival: str
    ratio: Ratio


def judged(rows: list[Row]) -> list[Case]:
    """The errors that count."""
    return [Case(cell, key, rival, r) for cell, part in cells_of(rows).items() for key in ERRORS
            for rival in RIVALS if (r := ratio(part, key, rival)).pairs >= ENOUGH]


def losing(rows: list[Row]) -> list[Case]:
    """Those in which the default loses."""
    return [case for case in judged(rows) if case.ratio.value > MOST]


def page(rows: list[Row]) -> list[str]:
    """Cells that lose, and all ratios."""
    first, again = [r for r in rows if not r["cell"]], grouped(rows, "cell")
    lost = losing(first)
    out = [f"# `{OWN}` against others", "",
           "Mean errors over the Cramér-Rao bound of each recording (white noise of the wrench, "
           "all else known, no prior), and their ratios on the same recordings, ± the standard "
           f"error. {len(lost)} of {len(judged(first))} ratios are above {MOST:g}, in cells of at "
           f"least {ENOUGH} runs{':' if lost else '.'}", ""]
    for cell, key, rival, r in lost:
        new = ratio(again.get((cell,), []), key, rival)
        out.append(f"- {cell}, {ERRORS[key]}: {_text(r)} of `{rival}` ({r.pairs} runs); on "
                   f"{new.pairs} fresh runs {_text(new)}")
    cells = cells_of(first)
    for key, text in ERRORS.items():
        out += ["", f"## {text.capitalize()}", "", "| cell | runs | over the bound | "
                + " | ".join(f"over {name}" for name in ESTIMATORS[1:]) + " |",
                "|---" * (len(ESTIMATORS) + 2) + "|"]
        for cell, part in cells.items():
            ratios = [ratio(part, key, name) for name in ESTIMATORS[1:]]
            out.append(f"| {cell} | {ratios[0].pairs} | {ratios[0].own:.2f} | "
                       + " | ".join(_text(r) for r in ratios) + " |")
    return out


def cells_of(rows: list[Row]) -> dict[str, list[Row]]:
    """Rows of each source: all, by motion, by length, by speed, by motion and length."""
    cells: dict[str, list[Row]] = {}
    for row in rows:
        source, motion, length = row["source"], row["motion"], f"{row['seconds']:g} s"
        for name in (source, f"{source}, {motion}", f"{source}, {length}",
                     f"{source}, {_speed(row['speed'])}", f"{source}, {motion}, {length}"):
            cells.setdefault(name, []).append(row)
    return dict(sorted(cells.items(), key=lambda cell: (cell[0].count(","), cell[0])))


def _speed(speed: float) -> str:
    return f"{'above' if speed > FAST else 'up to'} {FAST:g} rad/s"


def ratio(rows: list[Row], key: str, rival: str) -> Ratio:
    """Error `key` of the default over that of another estimator."""
    ours = {(r["source"], r["seed"]): r for r in rows if r["estimator"] == OWN}
    pairs = [(own[key] / r[f"crb_{key}"], r[key] / r[f"crb_{key}"]) for r in rows
             if r["estimator"] == rival and not r["failure"]
             and not (own := ours[r["source"], r["seed"]])["failure"]]
    if not pairs:
        return Ratio(np.nan, np.nan, 0, np.nan)
    own, _, value, error = ratio_of_means(*np.array(pairs).T)
    return Ratio(value, error, len(pairs), own)


def _text(r: Ratio) -> str:
    return f"{r.value:.2f} ± {r.error:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
