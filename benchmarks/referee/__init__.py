# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The referee: one command says whether a change of the estimation core made anything worse."""
