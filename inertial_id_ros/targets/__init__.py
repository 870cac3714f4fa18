# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers and controllers that take a payload: what they have, and how another one is sent."""
