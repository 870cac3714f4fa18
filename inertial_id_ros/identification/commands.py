# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an identifier can be told beside samples. A listener hears of it, so that a replay can
repeat it between the same samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ADVANCE = "advance"  # samples were processed within a command
RESET, TARE, UNTARE = "reset", "tare", "untare"  # the reason of the reset; nothing
SET_TOOL, SET_SHAPE, SET_SETTINGS = "set_tool", "set_shape", "set_settings"  # a tool, a shape, ...
PUBLISHERS = "publishers"  # as `Inbox.add_publishers`

# Called with the name of a command that was carried out, and with its value.
Listener = Callable[[str, Any], None]


def nobody(_name: str, _value: Any) -> None:
    """Hear nothing."""
