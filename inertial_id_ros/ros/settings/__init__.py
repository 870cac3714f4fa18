# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings as ROS parameters, from the command line, from files and at run time."""
