# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What beside the payload moves the reading: terms, evidence, average over models."""
