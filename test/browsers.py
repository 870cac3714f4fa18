# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Headless browsers that are installed on this machine, by their own remote protocols."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PATIENCE = 60.0  # s
_PROGRAMS = {"chromium": ("chromium", "chromium-browser", "google-chrome"),
             "firefox": ("firefox-esr", "firefox")}


def program(name: str) -> str | None:
    """The path of a browser; None where it is not installed."""
    return next(filter(None, map(shutil.which, _PROGRAMS[name])), None)


class _Remote:
    """Commands and events over a websocket, in JSON."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._last = socket, 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == self._last:
                assert "result" in message and message.get("type") != "error", message
                return message["result"]
            self.events.append(message)


class Page:
    """A page in a browser."""

    def __init__(self, remote: _Remote) -> None:
        self._remote = remote

    @property
    def requested(self) -> list[str]:
        """Every address that was asked for."""
        return [e["params"]["request"]["url"] for e in self._remote.events
                if e["method"] in ("Network.requestWillBeSent", "network.beforeRequestSent")]

    @property
    def errors(self) -> list[str]:
        """What scripts and the browser complained about."""
        return [json.dumps(e["params"]) for e in self._remote.events
                if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "log.entryAdded")]


class ChromiumPage(Page):
    """By the DevTools protocol."""

    def open(self, address: str, width: int, height: int) -> None:
        """Load a page into a window of this size [CSS px] and wait until it is there."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._remote.call(f"{domain}.enable")
        self._remote.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=1, mobile=width < 600)
        self._remote.call("Page.navigate", url=address)
        end = time.monotonic() + PATIENCE
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self._remote.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")


class FirefoxPage(Page):
    """By WebDriver BiDi."""

    def open(self, address: str, width: int, height: int) -> None:
        """As `ChromiumPage.open`."""
        self._remote.call("session.new", capabilities={})
        self._remote.call("session.subscribe",
                          events=["log.entryAdded", "network.beforeRequestSent"])
        self._context = self._remote.call("browsingContext.create", type="tab")["context"]
        self._remote.call("browsingContext.setViewport", context=self._context,
                          viewport={"width": width, "height": height})
        self._remote.call("browsingContext.navigate", context=self._context, url=address,
                          wait="complete")

    def evaluate(self, expression: str) -> Any:
        """As `ChromiumPage.evaluate`, of numbers and text."""
        found = self._remote.call("script.evaluate", expression=expression, awaitPromise=False,
                                  target={"context": self._context})
        assert found["type"] == "success", found
        return found["result"].get("value")


@contextmanager
def browser(name: str, folder: Path) -> Iterator[ChromiumPage | FirefoxPage]:
    """A page of a browser, without a network, that keeps its files in a folder."""
    words = [program(name), "--headless", "--remote-debugging-port=0"]
    words += {"chromium": [f"--user-data-dir={folder}", "--no-sandbox", "--disable-gpu",
                           "--disable-dev-shm-usage", "about:blank"],
              "firefox": ["--profile", str(folder), "--no-remote"]}[name]
    pattern = {"chromium": r"DevTools listening on (ws://\S+)",
               "firefox": r"WebDriver BiDi listening on (ws://\S+)"}[name]
    log = folder / "log.txt"
    with log.open("w") as out, subprocess.Popen(  # type: ignore[call-overload]
            words, stdout=out, stderr=subprocess.STDOUT,
            env={**os.environ, "HOME": str(folder)}) as process:
        try:
            address = _wait_for(pattern, log, process)
            if name == "firefox":
                with connect(f"{address}/session", max_size=None) as socket:
                    yield FirefoxPage(_Remote(socket))
            else:
                with connect(_chromium_page(address), max_size=None) as socket:
                    yield ChromiumPage(_Remote(socket))
        finally:
            process.kill()


def _wait_for(pattern: str, log: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + PATIENCE
    while not (found := re.search(pattern, log.read_text())):
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return found[1]


def _chromium_page(address: str) -> str:
    """The websocket of the first page, from that of the browser."""
    with connect(address, max_size=None) as socket:
        pages = _Remote(socket).call("Target.getTargets")["targetInfos"]
    page = next(p["targetId"] for p in pages if p["type"] == "page")
    return re.sub(r"/devtools/.*", f"/devtools/page/{page}", address)
