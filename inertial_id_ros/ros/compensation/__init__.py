# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Topics of the compensated wrench: each as it comes, the smoothed one, and what is removed."""
