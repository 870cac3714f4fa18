# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""HTML and SVG: elements, style, charts over time, and views in space."""
