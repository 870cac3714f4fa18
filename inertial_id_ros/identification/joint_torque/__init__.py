"""The payload of a robot without a wrist sensor: from its joint torques."""
