"""What a recording's SQLite file may do while it is read.

A view in place of a table is a program that the file brings along, and may never end. Tables are
read as they are; a value is at most a message long.
"""

from __future__ import annotations

import apsw

from ...limits import MAX_MESSAGE_BYTES


def _only_tables(operation: int, first: str | None, second: str | None, database: str | None,
                 view: str | None) -> int:
    """SQLite's authorizer: it refuses what a view or a trigger reads, and recursion."""
    refused = view is not None or operation == apsw.SQLITE_RECURSIVE
    return apsw.SQLITE_DENY if refused else apsw.SQLITE_OK


def _bound(connection: apsw.Connection) -> None:
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_MESSAGE_BYTES)
    connection.authorizer = _only_tables


def bound_databases() -> None:
    """Have connections of rosbags, which it makes itself, read only tables from now on."""
    if _bound not in apsw.connection_hooks:
        apsw.connection_hooks.append(_bound)
