# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The wrench without the payload."""
