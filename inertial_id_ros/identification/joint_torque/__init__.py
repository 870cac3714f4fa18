# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of a robot without a wrist sensor: from its joint torques."""
