"""Whole robots: their inertial parameters, friction and drives from joint torques.

ROS-free. `model` gives regressors, `base_parameters` what they can tell, `constraints` what a
robot can be, `feasibility` and `identification` put the three together.
"""
