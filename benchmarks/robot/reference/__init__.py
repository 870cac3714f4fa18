# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Methods of the papers on whole robots that the package does without, to compare with."""
