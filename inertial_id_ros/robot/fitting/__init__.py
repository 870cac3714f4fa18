"""Fits of a whole robot over all robots that can exist, and the constraints that say which do."""
