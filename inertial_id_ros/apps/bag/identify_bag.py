"""Command line: identify the payload of a recorded motion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ...cli import NO_ESTIMATE, OK, exit_status
from ...errors import UnknownFrame
from ...estimate import Estimate
from ...identification.make_identifier import identifier_from_settings
from ...regression.tool import tool_from_estimate
from ...settings import Settings
from .config import Options, parse_options
from .offline import Identification, identify
from .output import outputs, result_json, write_json, write_tool
from .reader import Recording
from .report import print_report, summary
from .topics import select_topics


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    return exit_status(lambda: run(parse_options(arguments)))


def run(options: Options) -> int:
    """Identify, report, write files; returns the exit status.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    json_path, plot_path, tool_path = outputs(
        {"--json": options.json, "--plot": options.plot, "--save-tool": options.save_tool},
        {"the recording": options.recording})
    if plot_path is not None:
        from .plot import check_format
        check_format(plot_path)
    with Recording(options.recording) as recording:
        selection = select_topics(recording.topics, options.settings, options.asked)
        notes = [*recording.notes, *selection.notes]
        pipeline = identifier_from_settings(options.settings)
        with progress_bar(recording.duration, not options.quiet) as on_progress:
            result = identify(recording, selection, pipeline, options.settings, on_progress,
                              keep_trace=plot_path is not None)
    check_frames(result, options.settings)
    if json_path is not None:
        write_json(json_path, result_json(result, options.recording, notes))
    if tool_path is not None and isinstance(result.outcome, Estimate):
        write_tool(tool_path, tool_from_estimate(result.outcome, pipeline.tool))
    if plot_path is not None:
        from .plot import save_plot
        save_plot(plot_path, result, options.recording.name)
    _report(result, options, notes)
    return OK if isinstance(result.outcome, Estimate) else NO_ESTIMATE


def check_frames(result: Identification, settings: Settings) -> None:
    """A run without an estimate may be due to a frame that is not there.

    Raises:
        UnknownFrame: the sensor or gravity frame is neither in TF nor in the robot description.
    """
    outcome = result.outcome
    if isinstance(outcome, Estimate):
        return
    wanted = {"sensor": settings.wrench.sensor_frame or outcome.frame_id,
              "gravity": settings.gravity.frame}
    for role, name in wanted.items():
        name = name.lstrip("/")
        if name and name not in result.frames:
            known = ", ".join(sorted(result.frames)) or "none"
            raise UnknownFrame(f"{role} frame '{name}' is neither in the recorded transforms nor "
                               f"in the robot description; known frames: {known}")


def _report(result: Identification, options: Options, notes: list[str]) -> None:
    if not options.quiet:
        print_report(Console(), result, str(options.recording), notes)
    elif not isinstance(result.outcome, Estimate):
        print(summary(result.outcome), file=sys.stderr)


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
