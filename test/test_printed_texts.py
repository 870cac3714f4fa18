# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Texts that hold names from outside: what a terminal would obey is never printed as it came."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from inertial_id_ros.apps.bag.output import as_markup, finding_lines
from inertial_id_ros.cli import exit_status
from inertial_id_ros.errors import InertialIdError, UnknownFrame, printable
from inertial_id_ros.estimate import NoEstimate
from inertial_id_ros.findings import FindingLog

FORGED = "tool0\n[ERROR] [1.0] [controller]: emergency stop\x1b[2K\x1b[31m\x9b1A\r\u202e\ud800"


@given(st.text())
def test_what_is_printed_is_one_line_that_a_terminal_shows(text: str) -> None:
    assert printable(text).isprintable()


@given(st.text(st.characters(whitelist_categories=("L", "N", "P", "S"), codec="utf-8")))
def test_letters_of_any_language_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def test_escaped_characters_can_be_told_from_their_codes() -> None:
    assert printable("a\nb\x1b\u202e") == r"a\nb\x1b\u202e"


def test_findings_errors_and_reasons_hold_no_codes() -> None:
    log = FindingLog()
    log.set("a", "error", FORGED)
    log.count("b", FORGED)
    texts = [*(f.text for f in log.all()), str(log.error("c", FORGED)), str(UnknownFrame(FORGED)),
             NoEstimate(0, FORGED, FORGED).reason]
    assert len(texts) == 5
    assert all(text.isprintable() and r"tool0\n[ERROR]" in text for text in texts)


def test_the_message_of_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise InertialIdError(FORGED)

    assert exit_status(fail) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.strip().isprintable()


def test_a_report_prints_names_from_outside_as_one_line() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=500)
    for line in [as_markup(FORGED), *finding_lines([], [FORGED], [FORGED])]:
        console.print(line, highlight=False)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3 and all(line.isprintable() for line in lines)
