"""Settings as ROS parameters, from the command line, from files and at run time."""
