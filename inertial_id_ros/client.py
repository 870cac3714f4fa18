# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""For programs that use the payload: take it by this, and nothing old or impossible is used.

`docs/use_payload.md` says what the node promises, and what this makes of it.
"""

from __future__ import annotations

from .ros.payload_client import NoPayload, Payload, PayloadClient

__all__ = ["NoPayload", "Payload", "PayloadClient"]
