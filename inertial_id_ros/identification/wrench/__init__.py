# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What only a wrist sensor needs: its stream, its bias, the corrections of its set-up."""
