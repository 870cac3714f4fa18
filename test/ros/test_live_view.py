# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The live view: what it says and draws of a message, and who gets to see it."""

from __future__ import annotations

import re
import sys
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.action")
viser = pytest.importorskip("viser", reason="the live view needs viser")
from msgspec import msgpack  # noqa: E402
from node_client import NODE, wait_for_valid  # noqa: E402
from ros_process import PATIENCE, Robot, RosProcess, Stage  # noqa: E402
from viser import _messages as viser_messages  # noqa: E402
from websockets.sync.client import connect  # noqa: E402
from zstandard import ZstdDecompressor  # noqa: E402

from inertial_id_ros.errors import InvalidSetting  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.ros.live import live_node, live_view  # noqa: E402
from inertial_id_ros.ros.payload_client import NoPayload  # noqa: E402

TOKEN = "a token of the test"
START = "from inertial_id_ros.cli import live_view; raise SystemExit(live_view())"


def a_message(**changes) -> InertialParameters:
    """A box of 2 kg, 0.1 x 0.2 x 0.3 m, turned about z."""
    turn = Rotation.from_euler("z", 30, degrees=True).as_matrix()
    about = 2.0 / 12.0 * np.diag([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    tensor = turn @ about @ turn.T
    m = InertialParameters(valid=True, status="fine", residual_rms=[3.0, 4.0, 0.0, 0.3, 0.4, 0.0])
    m.inertia.m, m.inertia.com.x = 2.0, 0.05
    (m.inertia.ixx, m.inertia.ixy, m.inertia.ixz, m.inertia.iyy, m.inertia.iyz,
     m.inertia.izz) = tensor[np.triu_indices(3)]
    com = turn @ np.diag([1e-6, 4e-6, 9e-6]) @ turn.T
    covariance = np.diag([1e-4, 0, 0, 0, *[1e-8] * 6])
    covariance[1:4, 1:4] = com
    m.covariance = covariance.ravel()
    m.verdict = np.full(10, 2, dtype=np.uint8)
    for name, value in changes.items():
        setattr(m, name, value)
    return m


# What it says and draws


def test_the_ellipsoid_has_two_standard_deviations_along_the_axes_of_the_covariance():
    ball = live_node.com_ellipsoid(a_message())
    assert np.allclose(ball.size, [2e-3, 4e-3, 6e-3]) and np.allclose(ball.centre, [0.05, 0, 0])
    assert np.isclose(np.linalg.det(ball.rotation), 1.0)
    shape = ball.rotation @ np.diag(ball.size / 2.0) ** 2 @ ball.rotation.T
    assert np.allclose(shape, np.array(a_message().covariance).reshape(10, 10)[1:4, 1:4])


def test_the_box_is_the_one_whose_inertia_it_is():
    box = live_node.inertia_box(a_message())
    assert np.allclose(sorted(box.size), [0.1, 0.2, 0.3])
    squares = box.size**2
    tensor = box.rotation @ np.diag(2.0 / 12.0 * (squares.sum() - squares)) @ box.rotation.T
    assert np.isclose(tensor[0, 1], a_message().inertia.ixy)


@pytest.mark.parametrize(("unobserved", "ball", "box"), [(None, True, True), (9, True, False),
                                                        (2, False, False)])
def test_nothing_is_drawn_of_what_is_unobserved(unobserved, ball, box):
    verdict = np.full(10, 2, dtype=np.uint8)
    if unobserved is not None:
        verdict[unobserved] = 0
    message = a_message(verdict=verdict)
    assert (live_node.com_ellipsoid(message) is not None) is ball
    assert (live_node.inertia_box(message) is not None) is box


def test_values_are_given_with_their_intervals_and_none_where_unobserved():
    verdict = np.full(10, 2, dtype=np.uint8)
    verdict[4:] = 0
    rows = live_node.table(a_message(verdict=verdict)).splitlines()
    assert rows[2].startswith("| mass\u00a0[kg] | 2.000 | 0.020 |") and "identified" in rows[2]
    assert rows[3].startswith("| COM\u00a0x\u00a0[mm] | 50.0 |")
    assert rows[6].startswith("| Ixx\u00a0[g\u00a0m²] | – | – |") and "unobserved" in rows[6]


def test_why_there_is_no_payload_is_said_in_red():
    said = live_node.headline(NoPayload("the clocks differ"))
    assert "the clocks differ" in said and "color:#b3261e" in said


def test_without_an_estimate_the_plots_have_a_gap():
    assert np.isnan(live_node.mass_point(a_message(valid=False))).all()
    assert live_node.residual_point(a_message()) == pytest.approx((5 / 3**0.5, 0.5 / 3**0.5))


# Options


@pytest.mark.parametrize(("words", "said"), [
    (["--port", "0"], "--port is 0; allowed: 1 to 65535"),
    (["--token", "short"], "the token has 5 characters; it needs 12"),
])
def test_a_bad_option_is_named(words, said):
    with pytest.raises(InvalidSetting, match=said):
        live_view.parse(words)


def test_each_start_has_a_token_of_its_own():
    tokens = {live_view.parse([]).token for _ in range(3)}
    assert len(tokens) == 3 and all(len(token) >= 20 for token in tokens)


# The server


class Browser:
    """What a browser sends and receives, over the websocket of viser.

    Attributes:
        received: all messages so far.
    """

    def __init__(self, port: int) -> None:
        version = f"viser-v{viser.__version__}"
        self._socket = connect(f"ws://localhost:{port}", subprotocols=[version], max_size=None)
        self.received: list[dict] = []
        self.send(viser_messages.ViewerCameraMessage(  # a browser counts from its first picture on
            wxyz=(1.0, 0.0, 0.0, 0.0), position=(1.0, 0.0, 0.0), fov=1.0, near=0.1, far=10.0,
            image_height=100, image_width=100, look_at=(0.0, 0.0, 0.0),
            up_direction=(0.0, 0.0, 1.0)))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, message: viser_messages.Message) -> None:
        """Send a message of viser."""
        self._socket.send(msgpack.encode(message.as_serializable_dict()))

    def read(self, seconds: float) -> None:
        """Take what comes within this time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            try:
                frame = self._socket.recv(timeout=left)
            except TimeoutError:
                return
            size = int.from_bytes(frame[8:16], "little")
            words = ZstdDecompressor().decompress(frame[16:16 + size])
            self.received += msgpack.decode(words)["messages"]

    def read_until(self, said: str) -> None:
        """Take what comes until a message has this text."""
        end = time.monotonic() + PATIENCE
        while said not in self.text:
            assert time.monotonic() < end, f"'{said}' did not come: {self.text[-2000:]}"
            self.read(0.2)

    @property
    def text(self) -> str:
        """All that has come, as text."""
        return repr(self.received)

    def element(self, kind: str, label: str) -> str:
        """The identifier of a field or button."""
        return next(m["uuid"] for m in self.received
                    if m["type"] == kind and m["props"]["label"] == label)

    def set(self, uuid: str, value: object) -> None:
        """Type into a field, or press a button (True)."""
        self.send(viser_messages.GuiUpdateMessage(uuid, {"value": value}))

    def give(self, token: str) -> None:
        """Type a token and press the button."""
        self.read_until("'Open'")
        self.set(self.element("GuiTextMessage", "token"), token)
        self.set(self.element("GuiButtonMessage", "Open"), True)


def start_view(stage: Stage) -> int:
    """The port of a view of the stage's node: the first that is free from the default on."""
    process = RosProcess(stage.domain, sys.executable, "-c", START, "--node", NODE,
                         "--token", TOKEN)
    stage.processes.append(process)
    process.wait_for_text("and give the token")
    return int(re.findall(r"localhost:(\d+)", process.text)[0])


@pytest.fixture(scope="module")
def view():
    """Stage and port of a view that shows a payload."""
    with Stage() as stage:
        stage.node = stage.start_node()
        stage.client.listen(InertialParameters, f"{NODE}/inertial_parameters")
        port = start_view(stage)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        wait_for_valid(stage)
        yield stage, port


@pytest.mark.slow
def test_a_browser_sees_nothing_before_it_has_given_the_token(view):
    with Browser(view[1]) as browser:
        browser.give("not the token")
        browser.read_until("That is not the token")
        browser.read(1.0)
        assert "[kg]" not in browser.text and "Reset" not in browser.text
        assert "/arm" not in browser.text and "/sensor" not in browser.text


@pytest.mark.slow
def test_with_the_token_it_sees_the_payload(view):
    with Browser(view[1]) as browser:
        browser.give(TOKEN)
        for said in ("[kg]", "/sensor/com", "/arm", "Tare"):
            browser.read_until(said)


@pytest.mark.slow
def test_its_buttons_call_the_node(view):
    stage, port = view
    with Browser(port) as browser:
        browser.give(TOKEN)
        browser.read_until("Reset")
        browser.set(browser.element("GuiButtonMessage", "Reset"), True)
        browser.read_until("reset: done")
        browser.set(browser.element("GuiButtonMessage", "Store as tool"), True)
        browser.read_until("store as tool: refused")
        browser.set(browser.element("GuiButtonMessage", "Rehearse apply"), True)
        browser.read_until("rehearsal: refused")


@pytest.mark.slow
def test_it_never_shares_itself_with_the_internet(view):
    stage, port = view
    with Browser(port) as browser:
        browser.send(viser_messages.ShareUrlRequest())
        browser.give(TOKEN)
        browser.read_until("Tare")
        browser.read(1.0)
    assert "share" not in stage.processes[-1].text.lower()  # viser says when it is asked to


@pytest.mark.slow
def test_a_second_view_takes_the_next_port_and_both_end_cleanly(view):
    stage, port = view
    assert start_view(stage) != port
    for process in stage.processes[-2:]:
        status, text = process.stop()
        assert status == 0 and "Traceback" not in text, text
