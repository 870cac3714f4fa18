# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Draws the rooms of the package and the road of a sample: ``python docs/draw_rooms.py``.

The order of the rooms comes from the layer contract in pyproject.toml, everything else about them
from the source: sentences from the docstrings, files, lines, imports. Of the road, which no tool
can read from the source, the steps stand here; each must be a module that exists.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "inertial_id_ros"
IMAGES = ROOT / "docs" / "images"
GROUND = "(root)"
GROUND_SENTENCE = "What every room may use: estimates, findings, errors, linear algebra."
INK, GREY, LINE, BLUE, ORANGE = "#22303c", "#6d7983", "#d8dee3", "#2563a8", "#c9611b"
BANDS = {"ros": "#f6e7da", "api": "#f6e7da", "apps": "#f6e7da", "identification": "#dfeaf5"}
BAND = "#eef2f4"  # of all other rooms

STEPS = (
    ("ros.inputs", "callbacks\nappend"),
    ("signals.inbox", "wait for\ntheir turn"),
    ("signals.sample_checks", "finite, in range,\nin order"),
    ("signals.bins", "10 ms\nmeans"),
    ("kinematics.motion_source", "motion of\nthe sensor"),
    ("regression.rows", "regressor\nand wrench"),
    ("signals.low_pass", "one filter\non both"),
    ("detection.segments", "without contact\nand changes"),
    ("regression.regressor_window", "rolling\nwindow"),
    ("identification.wrench.problem_builder", "linearise,\nrefine noise"),
    ("estimators.base", "a body that\ncan exist"),
    ("identification.verdict", "what to\ntrust"),
    ("ros.publishing", "messages,\nparameters"))
REPLAY = ("identification.verdict", "signals.bins")  # tail and head of the one way back


class Room(NamedTuple):
    """A room: its name, what belongs there, its number of files and lines."""

    name: str
    sentence: str
    files: int
    lines: int


@cache
def layers() -> list[str]:
    """Names of the rooms from top to bottom; the modules that all may use count as one."""
    contract = (ROOT / "pyproject.toml").read_text().split('name = "rooms in layers"')[1]
    above = contract.split("layers = [")[1].split(" : ")[0]  # below that, modules share a layer
    return [*re.findall(r'^  "(\w+)",$', above, re.M), GROUND]


def room_of(module: str) -> str:
    """Name of the room of a module (dotted, without the package)."""
    first = module.split(".")[0]
    return first if first in layers() else GROUND


def read_rooms() -> dict[str, Room]:
    """The rooms by name, from top to bottom."""
    return {name: _read_room(name) for name in layers()}


def _read_room(name: str) -> Room:
    if name == GROUND:
        files = [file for file in sorted(PACKAGE.glob("*.py")) if room_of(file.stem) == GROUND]
        sentence = GROUND_SENTENCE
    else:
        module = PACKAGE / f"{name}.py"  # where a layer is no folder
        files = [module] if module.exists() else sorted((PACKAGE / name).rglob("*.py"))
        docstring = ast.get_docstring(ast.parse(files[0].read_text())) or ""
        sentence = " ".join(docstring.split("\n\n")[0].split())
    return Room(name, sentence, sum(file.stem != "__init__" for file in files),
                sum(len(file.read_text().splitlines()) for file in files))


def count_imports() -> Counter[tuple[str, str]]:
    """Number of imports between modules of two rooms, by importing and imported room."""
    found: set[tuple[str, str]] = set()
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.level == 0:
                continue
            base = ".".join([*parts[:len(parts) - node.level], *filter(None, [node.module])])
            found |= {(".".join(parts), target) for target in
                      (_module(base, alias.name) for alias in node.names) if target}
    return Counter((room_of(a), room_of(b)) for a, b in found)


def _module(base: str, name: str) -> str:
    """The module that ``from base import name`` reads, as dotted name; empty for none of ours."""
    for module in (f"{base}.{name}".lstrip("."), base):
        path = PACKAGE / module.replace(".", "/")
        if module and (path.with_suffix(".py").exists() or (path / "__init__.py").exists()):
            return module
    return ""


def _canvas(width: float, height: float) -> tuple[plt.Figure, Axes]:
    """A figure of so many inches, one unit an inch, y downwards."""
    figure = plt.figure(figsize=(width, height), dpi=150)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0.0, width), ylim=(height, 0.0))
    axes.axis("off")
    return figure, axes


def _blend(colour: str, share: float) -> tuple[float, ...]:
    """So much of a colour, the rest white."""
    return tuple(1.0 - share * (1.0 - part) for part in to_rgb(colour))


def _lane(ax: Axes, room: str, left: float, right: float, middle: float, height: float) -> None:
    """The band of a room with its name."""
    ax.add_patch(FancyBboxPatch((left, middle - height / 2), right - left, height, linewidth=0.0,
                                boxstyle="round,pad=0,rounding_size=0.07",
                                facecolor=BANDS.get(room, BAND)))
    folder = (PACKAGE / room).is_dir()
    ax.text(left + 0.15, middle, f"{room}/" if folder else room, va="center", color=INK,
            fontsize=12, fontweight="bold")


def draw_rooms(file: Path) -> None:
    """Rooms from top to bottom, and the matrix of imports, which has nothing above its diagonal."""
    rooms, imports = read_rooms(), count_imports()
    names = list(rooms)
    top, row, left, cell = 1.35, 0.56, 7.0, 0.44
    right = left + cell * len(names)
    figure, ax = _canvas(right + 0.25, top + row * len(names) + 0.15)
    for i, room in enumerate(rooms.values()):
        y = top + (i + 0.5) * row
        _lane(ax, room.name, 0.15, right + 0.1, y, row - 0.08)
        sentence = textwrap.fill(room.sentence.replace("10 ms", "10\xa0ms"), 58)
        ax.text(1.75, y, sentence, va="center", color=INK, fontsize=9, linespacing=1.15)
        size = f"{room.files} file{'s' * (room.files > 1)}\n{room.lines} lines"
        ax.text(left - 0.2, y, size, va="center", ha="right", color=GREY, fontsize=8.5,
                linespacing=1.2)
        ax.text(left + (i + 0.5) * cell, top - 0.1, room.name, rotation=50, ha="left",
                rotation_mode="anchor", color=INK, fontsize=9.5)
        for j, other in enumerate(names):
            count = imports[room.name, other]
            corner = left + j * cell + 0.02, y - row / 2 + 0.06
            if i == j:
                ax.add_patch(Rectangle(corner, cell - 0.04, row - 0.12, linewidth=0.0,
                                       facecolor=LINE))
            elif count:
                assert j > i, f"{room.name} imports {other}, which stands above it"
                shade = min(0.2 + count / 50.0, 1.0)
                ax.add_patch(Rectangle(corner, cell - 0.04, row - 0.12, linewidth=0.0,
                                       facecolor=_blend(BLUE, shade)))
                ax.text(left + (j + 0.5) * cell, y, str(count), va="center", ha="center",
                        fontsize=9, color="white" if shade > 0.5 else INK)
    ax.text(0.3, 0.3, "Rooms", fontsize=17, fontweight="bold", color=INK, va="center")
    ax.text(0.3, 0.68, "A room imports only from those below it; the numbers count its imports\n"
            "from the room of the column. A layer contract holds this: make layers.",
            fontsize=10, color=GREY, va="top")
    figure.savefig(file, metadata={"Software": None})
    plt.close(figure)


def draw_road(file: Path) -> None:
    """The steps of the road of a sample, each in the lane of its room, as a line with stations."""
    names = [name for name in layers() if name in {step.split(".")[0] for step, _ in STEPS}]
    top, row, left, step = 1.3, 0.92, 1.9, 0.88
    right, bottom = left + step * len(STEPS) + 0.05, top + row * len(names)
    figure, ax = _canvas(right + 0.2, bottom + 0.6)
    lane = {name: top + (i + 0.5) * row for i, name in enumerate(names)}
    for name, y in lane.items():
        _lane(ax, name, 0.15, right, y, row - 0.08)
    stations = {}
    for k, (module, what) in enumerate(STEPS):
        assert (PACKAGE / f"{module.replace('.', '/')}.py").exists(), f"there is no {module}"
        stations[module] = left + (k + 0.5) * step, lane[module.split(".")[0]] - 0.2
        _station(ax, *stations[module], k + 1, module, what)
    road = list(stations.values())
    for (x0, y0), (x1, y1) in zip(road, road[1:], strict=False):
        middle = (x0 + x1) / 2
        _line(ax, [(x0 + 0.13, y0), (middle, y0), (middle, y1), (x1 - 0.13, y1)], ORANGE, 2.4)
    (x0, y0), (x1, y1) = (stations[module] for module in REPLAY)
    x1, below = x1 - step / 2, bottom + 0.2
    _line(ax, [(x0, y0 + 0.58), (x0, below), (x1, below), (x1, y1 + 0.03)], GREY, 1.5, dashed=True)
    ax.text((x0 + x1) / 2, below + 0.18, "replay of the window with corrected stamps, after an "
            "estimate has shown a clock offset", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(0.3, 0.3, "The road of a sample", fontsize=17, fontweight="bold", color=INK,
            va="center")
    ax.text(0.3, 0.62, "identification/wrench/road.py leads the samples through these steps, "
            "in this order. The node and identify_bag push into the\nsame object, so that live and "
            "offline give the same numbers. One step is not forward, the replay.", fontsize=10,
            color=GREY, va="top")
    figure.savefig(file, metadata={"Software": None})
    plt.close(figure)


def _station(ax: Axes, x: float, y: float, number: int, module: str, what: str) -> None:
    label = "<method>" if module == "estimators.base" else module.split(".")[-1]
    ax.plot([x], [y], "o", ms=16, color=ORANGE, mec="white", mew=1.5, zorder=3)
    ax.text(x, y, str(number), color="white", fontsize=8.5, fontweight="bold", ha="center",
            va="center_baseline", zorder=4)
    ax.text(x, y + 0.19, label.replace("_", "_\n") if len(label) > 11 else label, ha="center",
            va="top", fontsize=8, color=INK, fontweight="bold", linespacing=0.95)
    ax.text(x, y + (0.41 if len(label) > 11 else 0.32), what, ha="center", va="top",
            fontsize=7, color=GREY, linespacing=1.0)


def _line(ax: Axes, corners: list[tuple[float, float]], colour: str, width: float,
          dashed: bool = False) -> None:
    """A line with corners that ends in an arrow."""
    style = (0, (4, 3)) if dashed else "solid"
    xs, ys = zip(*corners[:-1], strict=True)
    ax.plot(xs, ys, color=colour, lw=width, ls=style, solid_joinstyle="round",
            solid_capstyle="butt", snap=False)
    ax.add_patch(FancyArrowPatch(corners[-2], corners[-1], arrowstyle="-|>", lw=width,
                                 mutation_scale=12, color=colour, linestyle=style, shrinkA=0,
                                 shrinkB=0, snap=False))


if __name__ == "__main__":
    draw_rooms(IMAGES / "rooms.png")
    draw_road(IMAGES / "road.png")
