# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Who may see the view and press its buttons: whoever knows the token."""

from __future__ import annotations

import hmac
import secrets

from ...errors import InvalidSetting

_SHORTEST = 12  # characters of a token that a user chooses


def make_token() -> str:
    """A token of 128 random bits."""
    return secrets.token_urlsafe(16)


def checked_token(token: str) -> str:
    """A token that a user chose.

    Raises:
        InvalidSetting: it is too short to be secret.
    """
    if len(token) < _SHORTEST:
        raise InvalidSetting(
            f"the token has {len(token)} characters; it needs {_SHORTEST} or more, or leave it out "
            "to have one made")
    return token


def is_right(given: str, token: str) -> bool:
    """Whether what somebody typed is the token; takes as long for each wrong one."""
    return hmac.compare_digest(given.strip().encode(), token.encode())
