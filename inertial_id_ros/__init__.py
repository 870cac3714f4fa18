# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online payload identification for robot arms."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
