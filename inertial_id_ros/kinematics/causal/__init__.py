# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor now, from the samples so far: for wrenches that are compensated live.

The filters of the other rooms look ahead, which is exact and late; these do not.
"""
