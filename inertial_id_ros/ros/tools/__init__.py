# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Programs beside the node: the demo and the simulated cobot."""
