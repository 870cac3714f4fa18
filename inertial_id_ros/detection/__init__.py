# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the model cannot explain: contact, changes of payload or zero, a wrong set-up."""
