# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An estimated payload, or an identified robot, as a document for planners, simulators and
robot controllers."""
