# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the mass can sit: shapes, meshes and points, and the density prior that they give."""
