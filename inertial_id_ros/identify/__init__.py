# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a history to an estimate; the identifier."""
