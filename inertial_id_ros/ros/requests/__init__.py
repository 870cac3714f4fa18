# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Requests of any size: counted before they become Python objects; shapes made of them outside."""
