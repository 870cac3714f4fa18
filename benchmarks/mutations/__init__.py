# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Damaged input: what the command-line tools make of randomly mutated files."""
