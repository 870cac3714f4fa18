"""Whether there is enough to make an estimate from, and what is missing if not."""

from __future__ import annotations

from .buffer import RegressorBuffer
from .motion_selection import MotionSelector
from .settings import Settings
from .streams import SampleRing


def why_not(settings: Settings, wrench: SampleRing, motion: MotionSelector,
            buffer: RegressorBuffer) -> str:
    """Why no estimate can be made now; empty if one can."""
    if not len(wrench):
        return f"no wrench received on '{settings.wrench.topic}'"
    if motion.blocked:
        return motion.blocked
    if not buffer:
        return "waiting for the first second of data"
    duration = buffer.content().duration
    if duration < settings.estimator.min_duration:
        return (f"{duration:.2f} s of data; estimator.min_duration is "
                f"{settings.estimator.min_duration:g} s")
    return ""
