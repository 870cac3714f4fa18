# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What clients call: services and the action; the limits on them, and the files that they write."""
