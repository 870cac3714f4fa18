# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What can be told of a payload, without ROS: drivers and controllers as data.

A target says what it must see of the graph, and makes of a payload the calls that hand it over: in
the target's frame, units and order. It sends nothing itself; `ros/apply` does.
"""
