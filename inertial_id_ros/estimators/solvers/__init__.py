"""Optimisation that knows no payloads: cones, quadratic programs, nonnegative least squares."""
