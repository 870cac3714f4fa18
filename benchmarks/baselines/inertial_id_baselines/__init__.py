# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Estimators to compare with: `ols` and `rtls` as published, `uniform` from mass and shape alone.

This is a distribution of its own, which brings them as another package would: its metadata lie in
the folder beside this one, so that whoever has the folder above on the path can name them.
"""
