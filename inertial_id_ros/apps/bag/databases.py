# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording's SQLite file may do while it is read.

A view in place of a table is a program that the file brings along, and may never end. Tables are
read as they are; a value is at most a message long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...extras import optional_packages
from ...limits import MAX_MESSAGE_BYTES

with optional_packages("reading a recording"):
    import apsw
    from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader


class TableReader(Sqlite3Reader):
    """Reads an SQLite file through connections that are restricted to its tables."""

    def open(self) -> None:
        """Open the file (raises ReaderError, and errors of apsw)."""
        with _restricted_connections():
            super().open()


@contextmanager
def _restricted_connections() -> Iterator[None]:
    """Restrict the connections that are made meanwhile: the reader makes two of its own."""
    apsw.connection_hooks.append(_restrict)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(_restrict)


def _restrict(connection: apsw.Connection) -> None:
    """Limit the length of values on a connection, and what its statements may do."""
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_MESSAGE_BYTES)
    connection.authorizer = _allow_only_tables


def _allow_only_tables(operation: int, first: str | None, second: str | None, database: str | None,
                       view: str | None) -> int:
    """SQLite's authorizer: it refuses what a view or a trigger reads, and recursion."""
    refused = view is not None or operation == apsw.SQLITE_RECURSIVE
    return apsw.SQLITE_DENY if refused else apsw.SQLITE_OK
