# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Kinds of findings of version 0.2 that have another name now: old name, beginning of the new one.

"Named" means the new one then; a kind that is not here has its name still.
"""

FINDINGS: dict[str, str] = {"residual_large.base": "base_moves"}
