# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package, all below `InertialIdError`, and how their texts are made fit to
print."""

_LONGEST = 2000  # characters of a text, which may hold names out of a file or a message


def printable(text: str) -> str:
    """A text that may hold names from outside, on one line and of limited length.

    Whatever a terminal or a log would obey instead of showing it (line breaks, escape codes,
    changes of the direction of writing, halves of surrogate pairs) is written as its code.

    Examples:
        >>> print(printable("tool0\\n[ERROR] \\x1b[31mfire"))
        tool0\\n[ERROR] \\x1b[31mfire
    """
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + " ..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
                   for c in text)


class InertialIdError(Exception):
    """Base of all exceptions of this package; the text is one sentence for the user."""

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidSetting(InertialIdError):
    """A setting's value is not allowed; the text names setting, value and what is allowed."""


class InvalidData(InertialIdError):
    """Arrays of the wrong shape or type, numbers that nothing explains, or a shape of no volume."""


class InvalidModel(InertialIdError):
    """A robot description, or the model made of it, that cannot be used."""


class UnknownFrame(InertialIdError):
    """A frame that is neither in the robot description nor in the transforms."""


class RecordingError(InertialIdError):
    """A recording that cannot be read or lacks what identification needs."""


class NotEnoughData(InertialIdError):
    """Too few samples, or too little motion, for what was asked."""


class MissingPackage(InertialIdError):
    """A Python package that only some features need is missing; the text says how to get it."""


class DamagedFile(InertialIdError):
    """A file whose content cannot be used; the text says what is wrong with it."""
