# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How long planned motions take to an accuracy, beside usual ones, and what limits they keep."""
