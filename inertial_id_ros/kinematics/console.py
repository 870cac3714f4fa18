"""What libraries in C++ print to the error stream, caught."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_OF_LIBRARY = ("Error:", "Warning:", "         at line")


@contextmanager
def caught_errors() -> Iterator[list[str]]:
    """A list that holds, after the block, what urdfdom's console printed in it.

    Lines of other origin, as of another thread that logs meanwhile, are printed afterwards.
    """
    said: list[str] = []
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines = file.read().decode("utf-8", "replace").splitlines(keepends=True)
            said += [line.strip() for line in lines if line.startswith(_OF_LIBRARY[:2])]
            others = "".join(line for line in lines if not line.startswith(_OF_LIBRARY))
            os.write(2, others.encode())
