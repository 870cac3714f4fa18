# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Topics of the compensated wrench: each wrench as it comes, and what is removed."""
