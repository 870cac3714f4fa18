# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The wrench without the payload, now: for each wrench as it comes, through contact and grips.

Two threads meet here. The one that owns the identifier knows which load may be removed
(`load_latch`), and hands it over as an immutable `LoadInUse`; the one that receives the messages
removes it from each wrench (`live_compensation`) and goes over from one load to the next without a
jump (`blend`).
"""
