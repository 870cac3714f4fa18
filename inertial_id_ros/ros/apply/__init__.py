# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Handing the payload over: checked, sent, read back and recorded."""
