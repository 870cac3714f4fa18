# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The one error of the set-up."""


class SetupError(Exception):
    """Set-up cannot go on; its text is one sentence that says what to do."""
