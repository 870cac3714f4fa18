# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_bag` identifies the payload of a recorded motion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, exit_status
from ...errors import printable
from ...estimate import Estimate, Outcome
from ...extras import optional_packages
from ...model.tool import tool_from_estimate
from ..report.diagnosis import diagnose
from ..report.results import Identification, is_identified, summary
from .offline import identify_recording
from .options import BagOptions, parse_options
from .output import (
    check_outputs,
    print_report,
    print_written,
    report_file,
    result_json,
    write_json,
    write_text,
    write_tool,
)

with optional_packages("printing the result"):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(parse_options(arguments)))


def run(options: BagOptions) -> int:
    """Identify, report, write files; returns the exit status.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    recording = options.source.path
    json_path, tool_path, report_path = check_outputs(
        {"--json": options.json, "--save-tool": options.save_tool,
         "--report": options.report and report_file(options.report, recording)},
        {"the recording": recording})
    result = identify_recording(options.source, options.settings,
                                lambda duration: progress_bar(duration, not options.quiet))
    if json_path is not None:
        write_json(json_path, result_json(result, recording))
    saved = None
    if tool_path is not None and isinstance(result.outcome, Estimate):
        write_tool(tool_path, tool_from_estimate(result.outcome, result.tool))
        saved = tool_path
    if report_path is not None:
        write_text(report_path, _page(result, options))
    if not options.quiet:
        print_report(Console(), result, str(recording), diagnose(result))
        print_written(json_path, saved, report_path)
    elif not isinstance(result.outcome, Estimate):
        print(printable(summary(result.outcome)), file=sys.stderr)
    return status(result.outcome)


def status(outcome: Outcome) -> int:
    """The exit status that tells a script what came out."""
    if not isinstance(outcome, Estimate):
        return NO_ESTIMATE
    return OK if is_identified(outcome) else NOT_IDENTIFIED


def _page(result: Identification, options: BagOptions) -> str:
    """The HTML report."""
    from ..report.page import ReportOrigin
    from ..report.payload_page import payload_page

    path = options.source.path
    return payload_page(result, options.settings,
                        ReportOrigin(path.name, str(path), options.command))


@contextmanager
def progress_bar(duration: float, wanted: bool) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if not wanted or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("identifying"), BarColumn(),
               TextColumn("{task.completed:.0f} of {task.total:.0f} s"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=duration)
        yield lambda reached: progress.update(task, completed=reached)


if __name__ == "__main__":
    sys.exit(main())
