# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Prints twice a second the payload that an arm carries, or why there is none that may be used.

Run it beside the node:  python examples/use_payload.py
A controller would take the numbers in place of printing them, and without a payload do what is safe
with any: stop, or go on slowly.
"""

import rclpy
from rclpy.executors import ExternalShutdownException

from inertial_id_ros.client import Payload, PayloadClient


def main() -> None:
    """Run until interrupted."""
    rclpy.init()
    node = rclpy.create_node("use_payload")
    client = PayloadClient(node, "inertial_id_node/inertial_parameters", max_age=2.0, require="com")

    def show() -> None:
        payload = client.newest()
        if isinstance(payload, Payload):
            x, y, z = payload.com
            inertia = "known" if payload.is_known("inertia") else "not known yet"
            print(f"{payload.mass:.3f} ± {2.0 * payload.sigma[0]:.3f} kg at ({x:.3f}, {y:.3f}, "
                  f"{z:.3f}) m in {payload.frame_id}, {payload.age:.1f} s old, inertia {inertia}",
                  flush=True)
        else:
            print(f"no payload: {payload.reason}", flush=True)

    node.create_timer(0.5, show)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
