# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Black boxes: the last minutes of a node's inputs as evidence, which can be replayed."""
