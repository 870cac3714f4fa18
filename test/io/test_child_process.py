# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Work in a process of its own: its answers, its errors, and its bounds."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path

import pytest

from inertial_id_ros.errors import InvalidModel, InvalidShape, UnknownFrame
from inertial_id_ros.io.child_process import Bounds, ChildProcess

pytestmark = pytest.mark.slow
USUAL = Bounds()
WORK = """
import os, sys
from inertial_id_ros.errors import UnknownFrame
def pid(data): return str(os.getpid()).encode()
def loaded(data): return " ".join(sys.modules).encode()
def spin(data):
    open(data, "w").close()
    while True: pass
def grow(data): return bytes(10**9)
def refuse(data): raise UnknownFrame("frame 'x' is\\nunknown")
def chat(data): print("hello"); os.write(1, b"hello"); return data
def fail(data): return 1 / 0
def crash(data): os.abort()
"""


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))


def run(name: str, data: bytes = b"", bounds: Bounds = USUAL) -> bytes:
    return ChildProcess(bounds).run(f"hostile_work:{name}", data, "this input", InvalidModel)


def test_the_answer_is_that_of_the_function_whatever_is_printed_meanwhile() -> None:
    data = bytes(range(256)) * 40_000  # more than a pipe holds
    child = ChildProcess()
    packed = child.run("zlib:compress", data, "text", InvalidModel)
    assert zlib.decompress(packed) == data
    assert run("chat", data) == data


def test_it_is_a_fresh_interpreter_each_time() -> None:
    assert run("pid") != run("pid")
    assert not {"rclpy", "numpy", "pytest"} & set(run("loaded").decode().split())


def test_an_error_of_this_package_arrives_as_it_was_raised() -> None:
    with pytest.raises(UnknownFrame, match=r"^frame 'x' is\\nunknown$"):
        run("refuse")


@pytest.mark.parametrize(("name", "said"), [
    ("fail", "this input breaks the parser"), ("crash", "this input breaks the parser")])
def test_a_process_that_ends_badly_is_an_error_of_the_caller(name: str, said: str) -> None:
    with pytest.raises(InvalidModel, match=said):
        run(name)


def test_work_without_end_ends_at_its_bound_of_processor_time(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="takes more than 1 s of processor time"):
        run("spin", str(tmp_path / "begun").encode(), Bounds(processor=1))


def test_work_that_waits_ends_at_its_bound_by_the_clock(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="takes longer than 0.2 s"):
        run("spin", str(tmp_path / "begun").encode(), Bounds(clock=0.2))


def test_memory_beyond_the_bound_is_refused() -> None:
    with pytest.raises(Exception, match="more memory than the 500 MB"):
        run("grow")


def test_a_stop_ends_the_work_at_once_and_for_good(tmp_path: Path) -> None:
    child, begun = ChildProcess(Bounds(processor=60, clock=60.0)), tmp_path / "begun"
    caught: list[Exception] = []

    def wait() -> None:
        try:
            child.run("hostile_work:spin", str(begun).encode(), "this input", InvalidShape)
        except InvalidShape as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not begun.exists():
        assert thread.is_alive()
    child.stop()
    thread.join(20.0)
    assert [str(error) for error in caught] == [
        "this input was not read, because the program stops"]
    with pytest.raises(InvalidShape, match="the program stops"):
        child.run("hostile_work:pid", b"", "this input", InvalidShape)
