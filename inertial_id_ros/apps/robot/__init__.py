"""Identification of a robot from a recording: reading, report, URDF and robot file."""
