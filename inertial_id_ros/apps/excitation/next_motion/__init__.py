# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion of an identification: what tells most per second, and its check."""
