"""What is wrong with the rows: noise of sensor and motion, walking bias, calibration."""
