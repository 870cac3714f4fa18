# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_bag` identifies the payload of a recorded motion."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from ...cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, exit_status
from ...errors import printable
from ...estimate import Estimate
from ...extras import optional_packages
from ...model.tool import save_tool, tool_from_estimate
from ..report.results import is_identified, summary
from .offline import identify_recording
from .options import parse_options
from .output import (
    check_outputs,
    print_report,
    print_written,
    report_file,
    result_json,
    write_json,
    write_text,
)

with optional_packages("printing the result"):
    from rich.console import Console


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(parse_options(arguments)))


def run(options: Namespace) -> int:
    """Identify, report, write files; returns the exit status.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    recording = options.recording
    json_path, tool_path, report_path = check_outputs(
        {"--json": options.json, "--save-tool": options.save_tool,
         "--report": options.report and report_file(options.report, recording)},
        {"the recording": recording})
    with Console(stderr=True, quiet=options.quiet).status("reading") as shown:
        result = identify_recording(
            recording, options.settings, options.named, options.episode or 0,
            options.stamps == "recorded", options.given,
            lambda reached, whole: shown.update(f"identifying: {reached:.0f} of {whole:.0f} s"))
    outcome = result.outcome
    if json_path is not None:
        write_json(json_path, result_json(result, recording))
    if tool_path is not None and isinstance(outcome, Estimate):
        save_tool(tool_path, tool_from_estimate(outcome, result.tool))
    if report_path is not None:
        from ..report.payload_page import payload_page

        write_text(report_path, payload_page(
            result, options.settings, recording, options.command))
    if not options.quiet:
        print_report(Console(), result, str(recording))
        print_written(json_path, tool_path if outcome.valid else None, report_path)
    elif not isinstance(outcome, Estimate):
        print(printable(summary(outcome)), file=sys.stderr)
    if not isinstance(outcome, Estimate):
        return NO_ESTIMATE
    return OK if is_identified(outcome) else NOT_IDENTIFIED


if __name__ == "__main__":
    sys.exit(main())
