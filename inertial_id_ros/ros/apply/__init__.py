# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Handing the payload over: what `targets` has planned is checked, sent, read back and logged.

All of it runs in a thread of its own, which may wait: the executor's thread makes clients and
subscriptions for it and receives their answers, and never waits for it.
"""
