# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of motion and wrench (CSV, NPZ, Parquet, LeRobot), made recordings."""
