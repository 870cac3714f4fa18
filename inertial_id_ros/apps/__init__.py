"""Programs without ROS, a room each: recordings, robots, planned motions, a simulated cobot."""
