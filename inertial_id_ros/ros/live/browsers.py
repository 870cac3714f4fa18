# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The web server, and the browsers that have given the token."""

from __future__ import annotations

import contextlib
import io
import threading
from typing import Any

from ...errors import InvalidSetting
from ...extras import optional_packages
from .access import is_right
from .live_node import LiveNode
from .panel import Panel
from .scene import Scene


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
