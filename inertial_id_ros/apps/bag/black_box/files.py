# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Black boxes: the last minutes of a node's inputs, with what is needed to replay them to the bit.

A black box is a rosbag2 folder. Beside the recording lie the settings, the state with which the
node started, and a report: versions, findings, the last outcome, what was asked of the node
meanwhile, and the SHA-256 of the other files. Where the recording begins later than the node, there
is what the node had learnt at one of the marks (`identification.checkpoint`), deflated. `marks`
says what the node notes between the messages.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ....errors import DamagedFile, RecordingError
from ....identification.checkpoint import program_digest
from ....identification.state import State, StateFile
from ....io.files import (
    Content,
    format_document,
    read_document,
    replace_file,
    user_path,
    without_nonfinite,
)
from ....io.message_log import LoggedMessage
from .recording import LoggedTopic, write_recording

FORMAT, VERSION = "inertial_id_ros black box", 2
_REPORT, _SETTINGS, _STATE, _CHECKPOINT = ("report.json", "settings.yaml", "state.json",
                                           "checkpoint.bin")
_LARGEST = 500_000_000  # bytes of a checkpoint
_PACKAGES = ("numpy", "scipy", "pin", "clarabel", "osqp", "rosbags")


@dataclass(frozen=True)
class BlackBox:
    """What lies in the folder beside the recording.

    Attributes:
        settings: those that differ from the defaults, by dotted name, when the recording ended.
        state: that the node started with.
        complete: whether the recording reaches back to the node's start.
        commands: what was asked of the node meanwhile, with the times.
        checkpoint: what the node had learnt at the mark `RESTORE`; empty: not kept.
        program: that wrote it (see `program_digest`); empty: not known.
    """

    settings: Mapping[str, Any]
    state: State
    complete: bool
    commands: tuple[str, ...] = ()
    checkpoint: bytes = b""
    program: str = field(default_factory=program_digest)

    @property
    def is_of_this_program(self) -> bool:
        """Whether this program would give the same numbers from the same inputs."""
        return self.program == program_digest()

    def can_be_followed(self, changed: bool) -> bool:
        """Whether a replay can do what the node did, message by message.

        Args:
            changed: whoever replays wants other settings.
        """
        return bool(self.program) and (self.complete or (
            bool(self.checkpoint) and self.is_of_this_program and not changed))

    def notes(self, changed: bool) -> tuple[str, ...]:
        """What a replay of it uses, and how far that can be relied on, in sentences."""
        notes = ["this is a black box: the settings and the state of its node are used",
                 self._describe_bits(changed)]
        if self.commands:
            repeated = "" if self.can_be_followed(changed) else ", which is not repeated here"
            notes.append(f"the node was told meanwhile{repeated}: " + "; ".join(self.commands))
        return tuple(notes)

    def _describe_bits(self, changed: bool) -> str:
        """Whether a replay gives the node's numbers, in a sentence."""
        if changed:
            return "the replay is not to the bit, because it has settings of its own"
        if not self.is_of_this_program:
            return ("the replay is not to the bit, because the black box is of another version of "
                    "this program or of its libraries"
                    + ("" if self.complete else
                       "; what the node had learnt before the recording begins is not used"))
        if self.complete:
            return "the replay is to the bit"
        if self.checkpoint:
            return "the replay is to the bit: it goes on from what the node had learnt"
        return ("the replay is not to the bit, because what the node had learnt before the "
                "recording begins is not in the black box")


def write_black_box(folder: Path, topics: Sequence[LoggedTopic], messages: Iterable[LoggedMessage],
                    box: BlackBox, report: Mapping[str, Any]) -> Path:
    """Write a black box, whole or not at all; one of the same name is replaced.

    Args:
        topics: of the messages, by their numbers.
        report: further content of the report.

    Raises:
        RecordingError: the system refuses, or the definition of a type is not installed.
    """
    import yaml  # loads slowly, and who reads recordings needs none

    whole = folder.with_name(f".{folder.name}.part")
    part = whole / folder.name  # the name of the folder goes into those of its files
    try:
        shutil.rmtree(whole, ignore_errors=True)
        whole.mkdir(parents=True)
        write_recording(part, topics, messages)
        (part / _SETTINGS).write_text(yaml.safe_dump(
            {"/**": {"ros__parameters": dict(box.settings)}}, sort_keys=False), encoding="utf-8")
        StateFile(part / _STATE).save(box.state)
        if box.checkpoint:
            (part / _CHECKPOINT).write_bytes(box.checkpoint)
        content = {**report, "settings": dict(box.settings), "commands": list(box.commands),
                   "complete": box.complete, "program": box.program, "versions": _versions(),
                   "sha256": {file.name: _sha256(file) for file in sorted(part.iterdir())}}
        with replace_file(part / _REPORT) as temporary:
            text = format_document(FORMAT, VERSION, without_nonfinite(content))
            temporary.write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    except OSError as error:
        raise RecordingError(
            f"black box {folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return folder


def read_black_box(recording: str | Path) -> BlackBox | None:
    """What lies beside a recording that is a black box; None where it is none.

    Raises:
        RecordingError: a file of it is missing or damaged.
    """
    folder = user_path(recording)
    report = folder / _REPORT
    if not report.is_file():
        return None
    try:
        content = read_document(report, FORMAT, VERSION, _UPGRADES)
        for name, digest in dict(content.get("sha256", {})).items():
            if _sha256(folder / Path(name).name) != digest:
                raise DamagedFile(f"{name} does not match its checksum")
        state = _read_state(folder / _STATE)
        checkpoint = _read_checkpoint(folder / _CHECKPOINT)
    except (OSError, DamagedFile, ValueError) as error:
        raise RecordingError(f"black box {folder} cannot be read: {error}") from error
    settings, asked = content.get("settings"), content.get("commands")
    if not isinstance(settings, dict) or not isinstance(asked, list):
        raise RecordingError(f"black box {folder} cannot be read: {_REPORT} lacks its settings or "
                             "commands")
    return BlackBox(settings, state, content.get("complete") is True,
                    tuple(str(command) for command in asked), checkpoint,
                    str(content.get("program", "")))


def _read_state(file: Path) -> State:
    """The state of a black box, which is evidence: unlike a node's own file, it is never set aside
    (raises DamagedFile, OSError)."""
    try:
        return StateFile(file).read()
    except DamagedFile as error:
        raise DamagedFile(f"{file.name}: {error}") from error


def _read_checkpoint(file: Path) -> bytes:
    """The content of a file with a checkpoint; empty where there is none (raises DamagedFile,
    OSError)."""
    if not file.is_file():
        return b""
    if file.stat().st_size > _LARGEST:
        raise DamagedFile(f"{file.name} has more than {_LARGEST} bytes")
    return file.read_bytes()


def _from_version_1(content: Content) -> Content:
    """Version 1 had no marks of commands, and did not say which program wrote it."""
    return {**content, "program": ""}


_UPGRADES = {1: _from_version_1}


def _versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("inertial_id_ros", *_PACKAGES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a source tree, or an optional package
            continue
    return found


def _sha256(file: Path) -> str:
    """SHA-256 of a file (raises OSError)."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
