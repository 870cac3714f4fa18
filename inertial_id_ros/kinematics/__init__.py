"""Motion of the sensor frame: from joint states and the robot description, or from TF alone."""
