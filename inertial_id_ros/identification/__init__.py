# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The road of a sample from inbox to verdict, as one object: the identifier."""
