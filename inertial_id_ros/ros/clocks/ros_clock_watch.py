# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the clock of ROS does, judged by the steady clock: whether it goes on, and whether it jumps.

That clock is the system's, or with `use_sim_time` the one that arrives on /clock.
"""

from __future__ import annotations

from ...findings import FindingLog

STANDSTILL = 0.7  # s of steady time without progress, after which the clock stands still
_SHOWN = 30.0  # s that a jump is reported
_SYSTEM_STEP = 0.1  # s: no discipline of the system clock moves it so far between two looks
# A simulated clock may run fast, and comes in steps: a jump is longer than so many seconds, and
# than so many times the steady time between two looks.
_SIMULATED_STEP, _FASTEST = 5.0, 100.0


class RosClockWatch:
    """Follows the ROS clock by looks at it.

    Args:
        findings: gets `clock_silent`, `clock_stopped` and `clock_jumped`.
        patience: time after the start in which nothing needs to arrive on /clock yet [s].
    """

    def __init__(self, findings: FindingLog, patience: float) -> None:
        self._findings, self._patience = findings, patience
        self._started: float | None = None
        self._last: tuple[float, float, bool] | None = None  # steady, ROS time, simulated
        self._advanced = 0.0  # steady time at which the clock was seen to go on
        self._jumped = -_SHOWN  # steady time of the last jump
        self.stands_still = False

    def look(self, steady: float, ros: float, simulated: bool) -> None:
        """Note what the clock says.

        Args:
            steady, ros: times by the two clocks [s]; simulated: whether use_sim_time is true.
        """
        if self._started is None:
            self._started = self._advanced = steady
        before, self._last = self._last, (steady, ros, simulated)
        if before is not None and before[2] == simulated:
            self._compare(before, steady, ros, simulated)
        else:
            self._advanced = steady
        self.stands_still = simulated and steady - self._advanced > STANDSTILL
        self._report(steady, ros)

    def _compare(self, before: tuple[float, float, bool], steady: float, ros: float,
                 simulated: bool) -> None:
        """Compare with the look before."""
        elapsed, moved = steady - before[0], ros - before[1]
        if moved != 0.0:
            self._advanced = steady
        if simulated:
            began = before[1] == 0.0
            jumped = not began and (moved < 0.0 or moved > max(_SIMULATED_STEP, _FASTEST * elapsed))
            by, name = moved, "the time on /clock"
        else:
            by, name = moved - elapsed, "the system clock"
            jumped = abs(by) > _SYSTEM_STEP
        if jumped:
            self._jumped = steady
            self._findings.count("clock_jumped", f"{name} jumped {'back' if by < 0.0 else 'ahead'} "
                                 f"by {abs(by):.1f} s")

    def _report(self, steady: float, ros: float) -> None:
        """Set and clear the findings."""
        assert self._started is not None
        silent = self.stands_still and ros == 0.0
        if silent and steady - self._started > self._patience:
            self._findings.set("clock_silent", "error", "use_sim_time is true and nothing arrives "
                               "on /clock, so every estimate counts as stale")
        else:
            self._findings.clear("clock_silent")
        if self.stands_still and not silent:
            self._findings.set("clock_stopped", "warning", "use_sim_time is true and the time on "
                               "/clock stands still, so every estimate counts as stale")
        else:
            self._findings.clear("clock_stopped")
        if steady - self._jumped > _SHOWN:
            self._findings.clear("clock_jumped")
