# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The live view in the browser: arm, payload, uncertainty, residuals, and buttons."""
