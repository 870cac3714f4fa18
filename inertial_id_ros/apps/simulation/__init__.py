"""A simulated cobot with a wrist force-torque sensor, for the demo and for tests (no ROS here)."""
