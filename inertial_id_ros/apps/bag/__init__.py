"""Offline identification of recorded motions, without a ROS installation."""
