# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whole robots from joint torques: regressor, recordings, base parameters, noise, robot files.

`fitting` holds what a robot can be, and fits over all robots that can exist.
"""
