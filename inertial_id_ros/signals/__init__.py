# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples on their way in: inbox, checks, ring buffers, 10 ms bins, the zero-phase low-pass."""
