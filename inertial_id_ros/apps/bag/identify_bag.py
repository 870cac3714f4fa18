# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: identify the payload of a recorded motion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, exit_status
from ...errors import printable
from ...estimate import UNOBSERVED, Estimate, Outcome
from ...extras import optional_packages
from ...regression.tool import tool_from_estimate
from ..report.diagnosis import Diagnosis, diagnose
from ..report.frame_trials import Trial, try_frames
from ..report.results import Identification
from ..report.wording import summary
from ..tables.as_recording import as_recording
from .config import Options, parse_options
from .offline import identify_recording
from .output import (
    check_outputs,
    print_written,
    report_file,
    result_json,
    write_json,
    write_text,
    write_tool,
)
from .report import print_report

with optional_packages("printing the result"):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(parse_options(arguments)))


def run(options: Options) -> int:
    """Identify, report, write files; returns the exit status.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    json_path, plot_path, tool_path, report_path = check_outputs(
        {"--json": options.json, "--plot": options.plot, "--save-tool": options.save_tool,
         "--report": options.report and report_file(options.report, options.recording)},
        {"the recording": options.recording})
    if plot_path is not None:
        from .plot import check_format
        check_format(plot_path)
    traced = plot_path is not None or report_path is not None
    result = _identify(options, traced)
    if not (traced or options.quiet or _status(result.outcome) == OK):
        result = _identify(options, True)  # the trace tells which frame is wrong
    if json_path is not None:
        write_json(json_path, result_json(result, options.recording, result.notes))
    if tool_path is not None and isinstance(result.outcome, Estimate):
        write_tool(tool_path, tool_from_estimate(result.outcome, result.tool))
    if plot_path is not None:
        from .plot import save_plot
        save_plot(plot_path, result, options.recording.name)
    if report_path is not None:
        write_text(report_path, _page(result, options))
    _report(result, options, diagnose(result, _try_frames(result, options), None))
    if not options.quiet:
        saved = tool_path if isinstance(result.outcome, Estimate) else None
        print_written(json_path, saved, plot_path, report_path)
    return _status(result.outcome)


def _status(outcome: Outcome) -> int:
    """The exit status that tells a script what came out."""
    if not isinstance(outcome, Estimate):
        return NO_ESTIMATE
    nothing = all(verdict == UNOBSERVED for verdict in outcome.verdict[:4])
    return NOT_IDENTIFIED if nothing else OK


def _identify(options: Options, traced: bool) -> Identification:
    """Identify the payload of the recording; traced: keep readings and poses."""
    with as_recording(options.recording, options.columns, options.settings,
                      options.episode) as recording:
        return identify_recording(
            recording, options.settings, options.asked,
            lambda duration: progress_bar(duration, not options.quiet),
            traced, options.whole, options.recorded_stamps, options.box)


def _page(result: Identification, options: Options) -> str:
    """The HTML report."""
    from ..report.payload_page import payload_page
    from ..report.provenance import Origin

    origin = Origin(options.recording.name, str(options.recording), options.command)
    return payload_page(result, options.settings, origin)


def _try_frames(result: Identification, options: Options) -> Trial | None:
    """Other frames that explain the force better, where the recording was traced."""
    return try_frames(result.trace, options.settings.wrench.sign, result.outcome.frame_id,
                      options.settings.gravity.frame)


def _report(result: Identification, options: Options, found: Diagnosis) -> None:
    if not options.quiet:
        print_report(Console(), result, str(options.recording), found, result.notes)
    elif not isinstance(result.outcome, Estimate):
        print(printable(summary(result.outcome)), file=sys.stderr)


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
