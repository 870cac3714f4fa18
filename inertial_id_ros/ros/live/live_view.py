# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The program `live_view`: the payload of a running node in the browser.

What browsers show of the arm and its payload, and who may look.
"""

from __future__ import annotations

import argparse
import contextlib
import hmac
import io
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.srv import SetTool

from ...apps.report.results import CONFIDENCE_95
from ...arguments import Parser
from ...cli import OK, exit_status
from ...errors import InvalidSetting
from ...extras import optional_packages
from ...inertia import Array
from ...kinematics.transform_tree import Pose
from .. import compat
from ..program import ignore_signals, start_ros, stop_flag, without_ros_arguments
from .live_node import Ellipsoid, LiveNode, com_ellipsoid, findings, headline, inertia_box, table

_SHORTEST = 12  # characters of a token that a user chooses


def make_token() -> str:
    """A token of 128 random bits."""
    return secrets.token_urlsafe(16)


def checked_token(token: str) -> str:
    """A token that a user chose.

    Raises:
        InvalidSetting: it is too short to be secret.
    """
    if len(token) < _SHORTEST:
        raise InvalidSetting(
            f"the token has {len(token)} characters; it needs {_SHORTEST} or more, or leave it out "
            "to have one made")
    return token


def is_right(given: str, token: str) -> bool:
    """Whether what somebody typed is the token; takes as long for each wrong one."""
    return hmac.compare_digest(given.strip().encode(), token.encode())


_ARM, _COM, _BOX, _FORCE = (110, 120, 130), (217, 83, 25), (0, 114, 189), (162, 20, 47)
_HELD = (150, 150, 150)
_LEAST = 0.004  # m: half axis of an ellipsoid that is still seen
_METRES_A_NEWTON = 0.01
_CAMERA, _TARGET = np.array([1.2, 1.2, 1.0]), np.array([0.2, 0.0, 0.4])  # m
_NEAR = np.array([0.55, 0.45, 0.3])  # m: of the camera from the sensor; the payload is then seen


class Scene:
    """Draws into a browser's scene; what is not known is not drawn.

    Args:
        client: of viser.
    """

    def __init__(self, client: Any) -> None:
        self._api = api = client.scene
        self._camera = client.camera
        self._camera.position, self._camera.look_at = _CAMERA, _TARGET
        self._is_aimed = False  # at the payload, once; from then on the camera is the user's
        api.set_up_direction("+z")
        api.add_grid("/ground", width=2.0, height=2.0, cell_size=0.1)
        self._sensor = api.add_frame("/sensor", axes_length=0.1, axes_radius=0.003, visible=False)

    def draw(self, node: LiveNode) -> None:
        """Draw what the node has heard last."""
        edges = node.edges()
        if len(edges):
            self._api.add_line_segments("/arm", edges, _ARM, thickness=0.02)
        message = node.message
        pose = None if message is None else node.pose(message.header.frame_id.lstrip("/"))
        self._sensor.visible = pose is not None
        if message is None or pose is None:
            return
        if not self._is_aimed:
            self._is_aimed = True
            self._camera.position = pose.translation + _NEAR
            self._camera.look_at = pose.translation
        self._sensor.wxyz, self._sensor.position = _quaternion(pose.rotation), pose.translation
        colour = _HELD if message.stale else None
        ball = com_ellipsoid(message)
        if ball is not None:
            ball = ball._replace(size=np.maximum(ball.size, _LEAST))
        self._place("/sensor/com", self._api.add_icosphere, ball, colour or _COM, 1.0)
        self._place("/sensor/inertia", self._api.add_box, inertia_box(message), colour or _BOX,
                    0.3)
        self._draw_force(node, pose)

    def _place(self, name: str, add: Any, shape: Ellipsoid | None, colour: tuple[int, ...],
               opacity: float) -> None:
        """Put a shape into the frame of the sensor, or take it away."""
        if shape is None:
            self._api.remove_by_name(name)
            return
        add(name, color=colour, opacity=opacity, scale=tuple(shape.size), position=shape.centre,
            wxyz=_quaternion(shape.rotation))

    def _draw_force(self, node: LiveNode, pose: Pose) -> None:
        """The compensated force at the origin of its frame."""
        if node.wrench is None:
            return
        own = node.pose(node.wrench.header.frame_id.lstrip("/")) or pose
        force = node.wrench.wrench.force
        end = own.rotation @ np.array([force.x, force.y, force.z]) * _METRES_A_NEWTON
        self._api.add_arrows("/force", np.array([[own.translation, own.translation + end]]),
                             _FORCE, shaft_radius=0.006, head_radius=0.015, head_length=0.03)


def _quaternion(rotation: Array) -> Array:
    """w, x, y, z of a rotation matrix."""
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


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


class Browsers:
    """Serves the view; a browser sees nothing and can do nothing before it has given the token.

    Args:
        token: to give. host, port: to listen on. node: to show.

    Raises:
        MissingPackage: viser is not installed.
        InvalidSetting: nothing can listen there.
    """

    def __init__(self, node: LiveNode, token: str, host: str, port: int) -> None:
        with optional_packages("the live view"):
            import viser

        class Server(viser.ViserServer):
            """Never shares itself with the internet, as a browser could ask viser's own to."""

            def request_share_url(self, verbose: bool = True) -> str | None:
                return None

        self._node, self._token = node, token
        self._shown: dict[int, tuple[Scene, Panel]] = {}
        self._lock = threading.Lock()  # browsers come and go in threads of the server
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # its banner, beside our line
                self._server = Server(host=host, port=port, label="Payload", verbose=False)
        except OSError as error:
            why = error.strerror or str(error)
            raise InvalidSetting(f"--host {host} --port {port}: {why}") from error
        self.port = self._server.get_port()
        self._server.on_client_connect(self._greet)
        self._server.on_client_disconnect(self._forget)

    def show(self) -> None:
        """Show what the node has heard last to everybody who has given the token."""
        with self._lock:
            shown = list(self._shown.values())
        for scene, panel in shown:
            scene.draw(self._node)
            panel.show(self._node)

    def close(self) -> None:
        """Serve no more."""
        self._server.stop()

    def _greet(self, client: Any) -> None:
        """Ask a new browser for the token."""
        client.gui.configure_theme(show_share_button=False, show_logo=False)
        words = client.gui.add_markdown("This view needs the token that `live_view` has printed.")
        field = client.gui.add_text("token", "")
        button = client.gui.add_button("Open")

        def try_token(_: Any) -> None:
            if not is_right(field.value, self._token):
                words.content = "That is not the token that `live_view` has printed."
                return
            for part in (words, field, button):
                part.remove()
            scene, panel = Scene(client), Panel(client, self._node)
            with self._lock:
                self._shown[client.client_id] = scene, panel

        button.on_click(try_token)

    def _forget(self, client: Any) -> None:
        with self._lock:
            self._shown.pop(client.client_id, None)


_NAME = "live_view"
_PERIOD = 0.1  # s between two pictures
_LOCAL = ("localhost", "127.0.0.1", "::1")


def make_parser() -> argparse.ArgumentParser:
    """Options of the program."""
    parser = Parser(
        prog=_NAME,
        description="Show the payload that a node identifies in the browser: arm, centre of mass "
        "with its uncertainty, equivalent box, compensated force, findings, residuals; buttons for "
        "identify, tare, tool and reset. ROS arguments follow --ros-args.")
    parser.add_argument("--node", default="/inertial_id_node", metavar="NAME",
                        help="node that identifies (default %(default)s)")
    parser.add_argument("--host", default="localhost",
                        help="address to listen on (default %(default)s: this machine alone). On "
                        "any other, token and numbers cross the network unencrypted")
    parser.add_argument("--port", type=int, default=8080, help="default %(default)s")
    parser.add_argument("--token", metavar="TEXT",
                        help="what a browser must give first (default: made anew and printed)")
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Checked options; ROS arguments are left to rclpy.

    Raises:
        InvalidSetting: a value that is not allowed.
    """
    options = make_parser().parse_args(without_ros_arguments(_NAME, words))
    if not 1 <= options.port <= 65535:
        raise InvalidSetting(f"--port is {options.port}; allowed: 1 to 65535")
    options.token = make_token() if options.token is None else checked_token(options.token)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    stop = stop_flag()
    try:
        return exit_status(lambda: run(words, stop))
    finally:
        compat.shutdown()
        ignore_signals()


def run(words: Sequence[str], stop: threading.Event) -> int:
    """Serve the view until stop is set; returns the exit status.

    Raises:
        InertialIdError: it cannot be served.
    """
    options = parse(words)
    start_ros(_NAME, words)
    node = LiveNode(options.node)
    try:
        browsers = Browsers(node, options.token, options.host, options.port)
        try:
            _say(options, browsers.port)
            executor = compat.make_executor()
            executor.add_node(node)

            def refresh() -> None:
                node.do_what_was_asked()
                browsers.show()

            node.create_timer(_PERIOD, refresh)
            compat.spin(executor, stop)
        finally:
            browsers.close()
    finally:
        node.destroy_node()
    return OK


def _say(options: argparse.Namespace, port: int) -> None:
    print(f"open http://{options.host}:{port} and give the token {options.token}", flush=True)
    if options.host not in _LOCAL:
        print(f"warning: whoever reaches {options.host} can read the token on its way",
              file=sys.stderr, flush=True)
