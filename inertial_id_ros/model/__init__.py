# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was measured, and how a payload and a set-up make a wrench of it."""
