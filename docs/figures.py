# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Draws the figures of the documentation: ``python docs/figures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.patches import FancyBboxPatch, Rectangle  # noqa: E402

IMAGES = Path(__file__).parent / "images"
GREY, BLUE, RED, GREEN = "#9aa4ad", "#2563a8", "#b4442e", "#2f7d4f"


def _arrow(ax: Axes, tail: tuple[float, float], head: tuple[float, float], colour: str,
           width: float = 2.2) -> None:
    """Draw an arrow between two points."""
    ax.annotate("", xy=head, xytext=tail,
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width,
                            "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16})


def _arm(ax: Axes) -> None:
    """Draw a flange that points down, with sensor and payload below it."""
    ax.add_patch(Rectangle((-0.28, 2.35), 0.56, 0.55, color="#d5dade"))
    ax.text(0.36, 2.66, "flange (tool0)", va="center", color="#444444")
    ax.add_patch(Rectangle((-0.34, 2.0), 0.68, 0.35, color=GREY))
    ax.text(0.42, 2.16, "sensor", va="center", color="#444444")
    ax.add_patch(FancyBboxPatch((-0.55, 0.75), 1.5, 1.2, boxstyle="round,pad=0.02",
                                facecolor="#f2e6cf", edgecolor="#b39b6d"))
    ax.plot([0.32], [1.25], "o", color=RED, ms=8)
    ax.text(0.42, 1.25, "c", va="center", color=RED, fontsize=11)


def _sensor_axes(ax: Axes) -> None:
    """Draw x and z of the sensor frame."""
    _arrow(ax, (0.0, 2.0), (0.0, 1.2), BLUE)
    _arrow(ax, (0.0, 2.0), (-0.8, 2.0), BLUE)
    ax.text(0.05, 1.42, "z", color=BLUE, fontsize=11)
    ax.text(-0.92, 2.03, "x", color=BLUE, fontsize=11)
    ax.plot([0.0], [2.0], "o", color=BLUE, ms=5)


def _frame_panel(ax: Axes) -> None:
    """Draw the panel that shows the frame of the results."""
    _arm(ax)
    _sensor_axes(ax)
    ax.text(-1.9, 3.25, "All results: origin and axes of the sensor frame", fontsize=11,
            weight="bold")
    _arrow(ax, (-1.5, 1.0), (-1.5, 0.35), RED)
    ax.text(-1.42, 0.62, "gravity g", color=RED)
    ax.text(-1.9, -0.55, "mass, centre of mass c, inertia about c along sensor axes\n"
            "Ixy = $-\\int$ x y dm   (tensor entry, as in URDF and geometry_msgs)\n"
            "gravity.frame: its z axis points up; tilt of the base comes from TF", fontsize=9)


def _sign_panel(ax: Axes, title: str, formula: str, direction: float, drivers: str) -> None:
    """Draw the panel of one sign convention; direction: +1 where the force at rest points up."""
    _arm(ax)
    _arrow(ax, (0.0, 2.18), (0.0, 2.18 + direction * 0.95), GREEN, 3.0)
    ax.text(-1.9, 3.25, title, fontsize=11, weight="bold")
    ax.text(-1.25, 2.18 + direction * 0.45, "force reading\nat rest", color=GREEN, ha="center",
            va="center")
    ax.text(-1.9, -0.55, f"{formula}\n{drivers}", fontsize=9)


def conventions(path: Path) -> None:
    """Draw the figure of frames and signs of the wrench into a file."""
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.2))
    for ax in axes:
        ax.set_xlim(-1.95, 1.95)
        ax.set_ylim(-0.6, 3.45)
        ax.set_aspect("equal")
        ax.axis("off")
    _frame_panel(axes[0])
    _sign_panel(axes[1], "wrench.convention: on_sensor", "at rest the force reads  bias + m g",
                -1.0, "what the payload does to the sensor\nATI, UR, Gazebo, most wrist sensors")
    _sign_panel(axes[2], "wrench.convention: on_environment",
                "at rest the force reads  bias $-$ m g", 1.0,
                "what the robot does to its environment\nFranka external wrench, MuJoCo native")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


RESULTS = Path(__file__).parents[1] / "benchmarks" / "accuracy" / "RESULTS.md"
SHOWN = {"raw-moderate-1": "10 s, raw accelerations", "raw-moderate-2": "twice as fast",
         "raw-moderate-4": "four times as fast", "encoder-1": "1.5 s, joint encoders",
         "encoder-2": "twice as fast", "tools-low": "12 tools, low noise",
         "tools-moderate": "12 tools, moderate noise", "tools-high": "12 tools, high noise"}


def inertia_errors() -> list[tuple[str, float, float]]:
    """What was tried, and the error of the inertia [%] of the default and of the best published."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in RESULTS.read_text().splitlines() if line.startswith("| ")]
    errors = {row[0]: [float(row[k].split("/")[-1]) for k in (2, 6)]
              for row in rows if row[0] in SHOWN}
    return [(SHOWN[name], *errors[name]) for name in SHOWN]


def accuracy(path: Path) -> None:
    """Draw the error of the inertia beside the best published ones into a file."""
    found = inertia_errors()
    figure, ax = plt.subplots(figsize=(8.0, 3.6))
    for k, (_, own, published) in enumerate(found):
        for offset, value, colour in ((-0.2, published, GREY), (0.2, own, BLUE)):
            ax.barh(k + offset, value, 0.36, color=colour)
            ax.text(value + 0.4, k + offset, f"{value:.2g} %", va="center", fontsize=8)
    ax.set_yticks(range(len(found)), [name for name, _, _ in found])
    ax.invert_yaxis()
    ax.set_xlim(0.0, 49.0)
    ax.set_xlabel("mean error of the inertia [%], on simulated recordings as in the papers")
    ax.legend(handles=[Rectangle((0, 0), 1, 1, color=GREY), Rectangle((0, 0), 1, 1, color=BLUE)],
              labels=["best published", "inertial_id_ros, default"], frameon=False, fontsize=8,
              loc="lower right")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    accuracy(IMAGES / "accuracy.png")
    print(f"wrote {IMAGES / 'accuracy.png'}")
    conventions(IMAGES / "conventions.png")
    print(f"wrote {IMAGES / 'conventions.png'}")
