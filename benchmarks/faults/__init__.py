# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What goes wrong beside a real driver: every fault alone and in pairs, and an hour of them."""
