# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reports as one HTML file, which opens from disk without network: payloads and robots."""
