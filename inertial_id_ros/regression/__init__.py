# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The linear model of the load: rows, the rolling window, its noise and its extra states."""
