"""Messages with more entries than any robot has: dropped, with a word."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Who is told: the identifier."""

    def add_finding(self, name: str, level: str, text: str) -> None: ...


def fits(listener: Listener, what: str, size: int, limit: int) -> bool:
    """Whether a message may be used; where not, the finding ``<what>_too_large`` says so."""
    if size <= limit:
        return True
    words = what.replace("_", " ")
    listener.add_finding(f"{what}_too_large", "error",
                         f"{words} messages with {size} entries dropped; at most {limit} are "
                         "accepted")
    return False
