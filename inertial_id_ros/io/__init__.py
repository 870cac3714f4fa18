# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bytes and text from outside, as plain values: files, YAML, serialised messages."""
