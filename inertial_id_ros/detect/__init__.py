# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Events while samples come: contact, another payload, another zero."""
