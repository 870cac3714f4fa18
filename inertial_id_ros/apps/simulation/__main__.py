# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes a simulated recording: ``python -m inertial_id_ros.apps.simulation --write BAG``."""

import sys

from .write import main

sys.exit(main())
