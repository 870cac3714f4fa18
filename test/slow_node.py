# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node on a machine that takes 7 s to take a client of a service down."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node

from inertial_id_ros.ros.main import main

destroy = Node.destroy_client


def destroy_slowly(self: Node, client: Any) -> bool:
    time.sleep(7.0)
    return destroy(self, client)


if __name__ == "__main__":
    Node.destroy_client = destroy_slowly
    raise SystemExit(main())
