"""Writing an estimate to a file: only below one folder, and never half."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from ..errors import InertialIdError

DEFAULT_NAME = "inertial_parameters.json"
_LONGEST = 200  # leaves room for the temporary name


class CannotSave(InertialIdError):
    """The file name is not allowed, or the file cannot be written."""


def save_json(directory: str, name: str, report: dict[str, Any]) -> Path:
    """Write a report under directory (made if missing) by renaming a complete file into place.

    Args:
        directory: may begin with ``~``; name: plain file name, empty for `DEFAULT_NAME`.

    Raises:
        CannotSave: the name is no plain file name, or the system refuses.
    """
    folder = Path(directory).expanduser().absolute()
    path = folder / plain_name(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise CannotSave(f"{path} is a folder")
        _replace(path, json.dumps(_without_nan(report), indent=2, allow_nan=False) + "\n")
    except OSError as error:
        raise CannotSave(f"cannot write {path}: {error.strerror or error}") from error
    return path


def plain_name(name: str) -> str:
    """The name if it is a plain, visible file name (raises CannotSave)."""
    name = name or DEFAULT_NAME
    if (name.startswith(".") or any(c in name for c in "/\\") or not name.isprintable()
            or len(name.encode()) > _LONGEST):
        raise CannotSave(f"name is {name!r}; it must be a plain file name without folder, not "
                         f"beginning with a dot, of at most {_LONGEST} bytes")
    return name


def _without_nan(value: Any) -> Any:
    """The value with null for what JSON cannot hold (a condition number may be infinite)."""
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes files that only their owner reads
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
