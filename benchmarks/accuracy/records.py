# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The file of results: one line for each scenario, object, run and estimator, added as it comes."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inertial_id_ros.regression.row_layout import NUISANCE_VALUES

from .metrics import ENTRIES

Row = dict[str, Any]
TEXT = ("scenario", "object", "estimator", "failure", "source", "arm", "motion", "findings",
        "false", "cell")
FIELDS = ("scenario", "object", "run", "estimator", "failure", "e_m", "e_com", "e_J", "e_J_com",
          "consistent", "ms", *(f"z_{e}" for e in ENTRIES), *(f"in_{e}" for e in ENTRIES),
          *(f"{kind}_{k}" for kind in ("crb", "bcrb") for k in ("m", "com", "J", "J_com")),
          *(f"align_{k}" for k in range(NUISANCE_VALUES)), *(f"phi_{k}" for k in range(10)))


class Records:
    """`runs.csv` in a folder, with what was asked for beside it.

    Args:
        asked: estimators and settings, in JSON's types; results for anything else do not belong
            in the same file.
        fields: names of the columns.

    Raises:
        ValueError: resumed with other estimators or settings.
    """

    def __init__(self, folder: Path, asked: dict[str, Any], resume: bool,
                 fields: Sequence[str] = FIELDS) -> None:
        self._fields = fields
        folder.mkdir(parents=True, exist_ok=True)
        self.path, note = folder / "runs.csv", folder / "asked.json"
        if resume and self.path.exists() and note.exists():
            if json.loads(note.read_text(encoding="utf-8")) != asked:
                raise ValueError(f"{folder} holds results for other estimators or settings; "
                                 "run without --resume, or with another --output")
            _drop_torn_line(self.path)
            return
        note.write_text(json.dumps(asked), encoding="utf-8")
        with self.path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(fields)

    def add(self, rows: list[Row]) -> None:
        """Append the rows of one run of one scenario; they are on the disk afterwards."""
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, self._fields, restval="").writerows(
                {k: f"{v:.9g}" if isinstance(v, float) else v for k, v in r.items()}
                for r in rows)


def _drop_torn_line(path: Path) -> None:
    """Forget a last line that an interrupt cut off."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:text.rfind("\n") + 1], encoding="utf-8", newline="")


def read(path: Path) -> list[Row]:
    """All rows; numbers are numbers, those of a failed row are missing."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: _value(k, v) for k, v in line.items() if v or k in TEXT}
                for line in csv.DictReader(file)]


def _value(key: str, text: str) -> Any:
    if key in TEXT:
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)
