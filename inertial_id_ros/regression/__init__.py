"""The linear model of the load: rows, the rolling window, its noise and its extra states."""
