# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Numbers, plots and buttons beside the scene of one browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inertial_id_ros.srv import SetTool

from ...apps.report.units import CONFIDENCE_95
from .live_node import LiveNode
from .payload_view import findings, headline, table

_BUTTONS: tuple[tuple[str, str, Callable[[LiveNode], None]], ...] = (
    ("Identify", "Begin anew; done when mass and centre of mass are known.",
     lambda node: node.identify()),
    ("Tare", "Take the reading as the bias: arm at rest, nothing attached.",
     lambda node: node.trigger("tare")),
    ("Drop the tare", "Estimate the bias from the data again.",
     lambda node: node.trigger("untare")),
    ("Store as tool", "From then on the object alone is estimated.",
     lambda node: node.set_tool(SetTool.Request.STORE, "store as tool")),
    ("Clear the tool", "Forget the tool.",
     lambda node: node.set_tool(SetTool.Request.CLEAR, "clear the tool")),
    ("Reset", "Forget all data, not the tare.", lambda node: node.trigger("reset")),
    ("Save", "Write the estimate under state.directory/saves.", lambda node: node.save()),
    ("Export as URDF", "Write payload.urdf under state.directory/exports.",
     lambda node: node.export("urdf", "payload.urdf")),
    ("Rehearse apply", "Say what would be sent to the robot (apply.target); send nothing.",
     lambda node: node.apply(send=False)),
    ("Apply", "Send the payload to the robot (apply.target).", lambda node: node.apply(send=True)),
    ("Undo apply", "Give back what the robot had before.",
     lambda node: node.apply(send=True, undo=True)),
)


class Panel:
    """Shows the node's words and numbers, and hands over what its buttons ask for.

    Args:
        client: of viser. node: which the buttons ask.
    """

    def __init__(self, client: Any, node: LiveNode) -> None:
        gui = client.gui
        self._headline = gui.add_markdown("")
        with gui.add_folder("Parameters"):
            self._table = gui.add_markdown("")
        with gui.add_folder("Status and findings"):
            self._findings = gui.add_markdown("")
        with gui.add_folder("Do"):
            self._said = gui.add_markdown("")
            for label, hint, act in _BUTTONS:
                button = gui.add_button(label, hint=hint)
                button.on_click(lambda _, act=act: node.ask(lambda: act(node)))
        with gui.add_folder("Over time"):
            self._mass = _add_plot(gui, "mass [g]", {
                "mass": "#d95319", "+ 95 %": "#e0a080", "- 95 %": "#e0a080"})
            self._residual = _add_plot(gui, "residual", {
                "force [N]": "#0072bd", "torque [N m]": "#7e2f8e"})
        self._drawn = 0.0  # stamp of the newest point in the plots [s]

    def show(self, node: LiveNode) -> None:
        """Show what the node has heard last."""
        self._headline.content = headline(node.payload())
        self._said.content = node.said
        if node.message is not None:
            self._findings.content = findings(node.message)
            self._table.content = table(node.message) if node.message.valid else ""
        if node.history and node.history[-1].stamp != self._drawn:
            self._drawn = node.history[-1].stamp
            stamp, mass, sigma, force, torque = np.array(node.history).T
            grams, spread = 1e3 * mass, 1e3 * CONFIDENCE_95 * sigma
            self._mass.data = (stamp, grams, grams + spread, grams - spread)
            self._residual.data = (stamp, force, torque)


def _add_plot(gui: Any, title: str, colours: dict[str, str]) -> Any:
    """An empty plot over time with a curve of each name and colour."""
    from viser import uplot

    curves = tuple(uplot.Series(label=name, stroke=colour) for name, colour in colours.items())
    return gui.add_uplot((np.zeros(1),) * (1 + len(curves)), (uplot.Series(label="time"), *curves),
                         title=title, aspect=2.0)
