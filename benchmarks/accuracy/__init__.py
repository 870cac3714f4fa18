"""Accuracy of every estimator on every scenario, with its own ground truth."""
