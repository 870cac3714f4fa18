# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Fits of a whole robot over all robots that can exist, and the constraints that say which do."""
