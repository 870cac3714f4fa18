"""What went wrong or deserves attention, by name, counted, as sentences for a person."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import InvalidData

LEVELS = ("info", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """A named finding: level is ``info``, ``warning`` or ``error``; text is one sentence."""

    name: str
    level: str
    text: str


@dataclass(frozen=True)
class Missing:
    """What an input still lacks before it can be used: one sentence for a person."""

    text: str


class FindingLog:
    """Findings by name: the last text of each, and how often it was counted."""

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def set(self, name: str, level: str, text: str) -> None:
        """Record a state; replaces the earlier finding of that name."""
        self._findings[name] = Finding(name, level, text)

    def count(self, name: str, text: str, level: str = "warning") -> None:
        """Count an event; the text is followed by the number of times so far."""
        self._counts[name] = self._counts.get(name, 0) + 1
        n = self._counts[name]
        times = "once" if n == 1 else f"{n} times"
        self._findings[name] = Finding(name, level, f"{text} ({times})")

    def clear(self, *names: str) -> None:
        """Forget findings by name."""
        for name in names:
            self._findings.pop(name, None)
            self._counts.pop(name, None)

    def clear_all(self) -> None:
        """Forget everything."""
        self._findings.clear()
        self._counts.clear()

    def all(self) -> tuple[Finding, ...]:
        """All findings, errors first."""
        return tuple(sorted(self._findings.values(), key=lambda f: -LEVELS.index(f.level)))


def named(log: FindingLog, name: str, text: str) -> InvalidData:
    """An error that is a finding as well."""
    log.set(name, "error", text)
    return InvalidData(text)
