"""The ROS shell: the only part of the package that imports rclpy or message types."""
