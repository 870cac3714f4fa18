# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is wrong with the rows: noise of sensor and motion, walking bias, calibration."""
