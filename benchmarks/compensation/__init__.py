# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The compensated wrench: what is left of the payload, how late it comes, what it costs, and
whether it holds through contact, grips and faults."""
