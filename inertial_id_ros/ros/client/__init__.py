# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What programs that use the payload can rely on, and a client that applies it."""
