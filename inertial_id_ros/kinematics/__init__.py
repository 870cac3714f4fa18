# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor frame: from joint states and the robot description, or from TF alone."""
