# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Load of the node beside a bare subscriber: processor time, losses, age of the estimate."""
