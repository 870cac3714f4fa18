"""Motions that show inertial parameters: Fourier series, optimised within the robot's limits."""
