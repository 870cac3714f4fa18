# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sensors and arms with the errors of real ones: are estimates right, and intervals true?"""
