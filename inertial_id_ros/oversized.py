"""Messages with more entries than any robot has: dropped, with a word."""

from __future__ import annotations

from collections.abc import Callable


def fits(tell: Callable[[str, str, str], None], what: str, size: int, limit: int) -> bool:
    """Whether a message may be used; where not, the finding ``<what>_too_large`` says so.

    Args:
        tell: takes name, level and text of the finding.
    """
    if size <= limit:
        return True
    tell(f"{what}_too_large", "error", f"{what.replace('_', ' ')} messages with {size} entries "
         f"dropped; at most {limit} are accepted")
    return False
