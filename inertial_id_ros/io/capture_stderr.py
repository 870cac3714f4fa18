# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Captures what libraries written in C++ print on standard error."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST = 20_000  # bytes that are kept
_lock = threading.Lock()  # there is one standard error


@contextmanager
def capture_stderr() -> Iterator[list[str]]:
    """Capture what the process prints on standard error in a block, as lines, when it ends."""
    lines: list[str] = []
    with _lock, tempfile.TemporaryFile() as file:
        try:
            before = os.dup(2)
        except OSError:  # a daemon may have closed it
            yield lines
            return
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            lines += file.read(_LONGEST).decode(errors="replace").splitlines()
