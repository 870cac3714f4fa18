# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Draws the moving picture of the README: ``python docs/draw_moving_picture.py``.

A simulated arm carries a drill; beside it, what the identifier knows at that moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pinocchio  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from mpl_toolkits.mplot3d import Axes3D  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # noqa: E402
from PIL import Image  # noqa: E402

from inertial_id_ros.api import Estimate, Identifier, Settings  # noqa: E402
from inertial_id_ros.apps.report.equivalent_box import equivalent_box  # noqa: E402
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot  # noqa: E402
from inertial_id_ros.apps.simulation.payload import Part  # noqa: E402
from inertial_id_ros.estimate import UNOBSERVED, VERDICT_WORDS  # noqa: E402
from inertial_id_ros.inertia import Array  # noqa: E402

OUT = Path(__file__).parent / "images" / "moving.gif"
SECONDS, PICTURES = 6.0, 48
GREY, RED, BLUE, TOOL = "#6b7680", "#b4442e", "#2563a8", "#c9a24b"
COLOURS = {"identified": "#2f7d4f", "prior-dominated": "#9a6700", "unobserved": "#8a949c"}
WORDS = {"mass": 0, "centre of mass": slice(1, 4), "inertia": slice(4, 10)}


class Moment(NamedTuple):
    """What one picture shows: time [s]; points (n, 3) of the arm, pose of the sensor, estimate."""

    time: float
    arm: Array
    rotation: Array
    position: Array
    estimate: Estimate | None


def moments(robot: SimulatedCobot) -> Iterator[Moment]:
    """Move the arm and identify what it carries."""
    recorded = robot.run(SECONDS)
    stamps = np.round(1e9 * (1.0 + recorded.t)).astype(np.int64)
    identifier = Identifier(Settings())
    identifier.set_robot_description(robot.urdf)
    model = pinocchio.buildModelFromXML(robot.urdf)
    data = model.createData()
    for part in np.array_split(np.arange(len(stamps)), PICTURES):
        identifier.add_joint_states(stamps[part], robot.joint_names, recorded.q[part])
        identifier.add_wrenches(stamps[part], robot.sensor_frame, recorded.wrench[part])
        found = identifier.solve()
        pinocchio.forwardKinematics(model, data, recorded.truth.q[part[-1]])
        position, rotation = (x[part[-1]] for x in (recorded.truth.position,
                                                    recorded.truth.rotation))
        joints = [placement.translation.copy() for placement in data.oMi]
        yield Moment(recorded.t[part[-1]], np.array([*joints, position]), rotation, position,
                     found if isinstance(found, Estimate) else None)


def faces(part: Part) -> Array:
    """The six faces (6, 4, 3) of the box around a part, in the frame of the sensor [m]."""
    half = 0.5 * np.array(part.size if part.shape == "box" else
                          (2 * part.size[0], 2 * part.size[0], part.size[-1]))
    return box_faces(half) @ part.rotation.T + np.array(part.center)


def box_faces(half: Array) -> Array:
    """The six faces (6, 4, 3) of a box about the origin from its half lengths (3,)."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return np.array([np.insert(square, axis, side, axis=1) * half
                     for axis in range(3) for side in (-1, 1)])


def draw_scene(axes: Axes3D, robot: SimulatedCobot, now: Moment) -> None:
    """The arm, what it carries, and the estimate as ball and box."""
    axes.add_collection3d(Line3DCollection([now.arm], colors=GREY, linewidths=7,
                                           capstyle="round", zorder=1))
    axes.scatter(*now.arm[1:-1].T, color="#3d454b", s=28, zorder=2)
    solid = np.concatenate([faces(part) for part in robot.payload.parts])
    axes.add_collection3d(Poly3DCollection(solid @ now.rotation.T + now.position, alpha=0.35,
                                           facecolor=TOOL, edgecolor="#8f7433", linewidths=0.4,
                                           zorder=3))
    if now.estimate is not None:
        body = now.estimate.body
        axes.scatter(*(now.rotation @ body.com + now.position), color=RED, s=70, depthshade=False,
                     zorder=5)
        if UNOBSERVED not in now.estimate.verdict:
            lengths, turn = equivalent_box(body)
            box = box_faces(0.5 * lengths) @ (now.rotation @ turn).T
            box = box + now.rotation @ body.com + now.position
            axes.add_collection3d(Poly3DCollection(box, alpha=0.12, facecolor=BLUE,
                                                   edgecolor=BLUE, linewidths=1.0, zorder=4))
    axes.computed_zorder = False
    axes.set(xlim=(-0.25, 0.75), ylim=(-0.5, 0.5), zlim=(0.0, 1.0))
    axes.set_box_aspect((1, 1, 1), zoom=1.55)
    axes.view_init(elev=18, azim=-62)
    axes.set_axis_off()


def draw_numbers(figure: Figure, now: Moment) -> None:
    """Mass, centre of mass and inertia with their verdicts, as text."""
    def say(y: float, text: str, colour: str = "#333333", **style: object) -> None:
        figure.text(0.53, y, text, color=colour, **style)

    say(0.90, f"{now.time:.1f} s of motion", "#8a949c", fontsize=11)
    for k, (name, group) in enumerate(WORDS.items()):
        y = 0.78 - 0.145 * k
        word, text = "unobserved", "–"
        if now.estimate is not None:
            word = VERDICT_WORDS[np.min(now.estimate.verdict[group])]
            text = values(name, now.estimate) if word != "unobserved" else "–"
        say(y, name, weight="bold", fontsize=12)
        say(y - 0.055, text, fontsize=11)
        figure.text(0.985, y, word, color=COLOURS[word], fontsize=11, ha="right")


def values(name: str, estimate: Estimate) -> str:
    """One of the three with its 95 % interval."""
    spread = 1.96 * estimate.sigma
    if name == "mass":
        return f"{estimate.body.mass:.3f} ± {spread[0]:.3f} kg"
    if name == "centre of mass":
        com = ", ".join(f"{1e3 * x:.1f}" for x in estimate.body.com)
        return f"({com}) ± {1e3 * spread[1:4].max():.1f} mm"
    diagonal = ", ".join(f"{1e3 * x:.2f}" for x in np.diag(estimate.body.inertia_com))
    return f"({diagonal}) ± {1e3 * spread[[4, 7, 9]].max():.2f} g m²"


def draw_mass(axes: Axes, mass: float, shown: list[Moment]) -> None:
    """Mass with its interval over time, beside the truth."""
    known = [m for m in shown if m.estimate is not None]
    time = np.array([m.time for m in known])
    values_, spread = (np.array([f(m.estimate) for m in known if m.estimate]) for f in (
        lambda e: e.body.mass, lambda e: 1.96 * e.sigma[0]))
    axes.axhline(mass, color="#333333", lw=1.0, ls="--")
    if len(known):
        axes.fill_between(time, values_ - spread, values_ + spread, color=BLUE, alpha=0.18, lw=0)
        axes.plot(time, values_, color=BLUE, lw=2)
    axes.set(xlim=(0.0, SECONDS), ylim=(0.9 * mass, 1.1 * mass), xlabel="time [s]")
    axes.set_ylabel("mass [kg]", labelpad=2)
    axes.tick_params(labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(robot: SimulatedCobot, shown: list[Moment]) -> Image.Image:
    """One picture: of the last of these moments."""
    figure = plt.figure(figsize=(7.6, 3.9), dpi=100)
    draw_scene(figure.add_axes((0.0, 0.0, 0.5, 1.0), projection="3d"), robot, shown[-1])
    draw_numbers(figure, shown[-1])
    draw_mass(figure.add_axes((0.60, 0.15, 0.385, 0.22)), robot.payload.mass, shown)
    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    plt.close(figure)
    return picture


def main() -> None:
    """Write the GIF; the last picture stays longer."""
    robot, shown, pictures = SimulatedCobot(), [], []
    for now in moments(robot):
        shown.append(now)
        pictures.append(draw(robot, shown))
    palette = pictures[-1].quantize(128, method=Image.Quantize.FASTOCTREE)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    durations = [int(1e3 * SECONDS / PICTURES)] * (PICTURES - 1) + [2500]
    frames[0].save(OUT, save_all=True, append_images=frames[1:], duration=durations, loop=0,
                   optimize=True)
    print(f"{OUT.name}: {OUT.stat().st_size / 1e3:.0f} kB, {len(frames)} pictures")


if __name__ == "__main__":
    main()
