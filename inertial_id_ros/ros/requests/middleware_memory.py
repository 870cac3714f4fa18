# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Has the middleware free what large messages have taken, where it can be asked for that.

By itself, rmw_fastrtps keeps buffers of the size of the largest message that ever came, for each
subscription and service: after descriptions of 30 MB and requests of a million points the process
stays larger by 110 MB. Other middlewares do not read what is set here.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

_PROFILES = Path(__file__).with_name("fast_dds.xml")
_FILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")  # old, new name
_TAKE_QOS = "RMW_FASTRTPS_USE_QOS_FROM_XML"
# Fast DDS reads these in the working folder by itself.
_FOUND_BY_ITSELF = ("DEFAULT_FASTRTPS_PROFILES.xml", "DEFAULT_FASTDDS_PROFILES.xml")


def free_large_messages(environment: MutableMapping[str, str] = os.environ) -> bool:
    """Set the environment variables for that, before rclpy starts; False where the user has
    profiles of their own, which then hold."""
    if any(name in environment for name in (*_FILES, _TAKE_QOS)):
        return False
    if any(Path(name).exists() for name in _FOUND_BY_ITSELF):
        return False
    environment.update(dict.fromkeys(_FILES, str(_PROFILES)), **{_TAKE_QOS: "1"})
    return True
