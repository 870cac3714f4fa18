# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Largest inputs that are accepted; what is larger is refused with a sentence, not tried."""

MEGABYTE = 1_000_000
MAX_URDF_BYTES = 20 * MEGABYTE
MAX_ARM_JOINTS = 64  # that move a sensor: the matrices of a model grow with the cube of them
MAX_MESH_BYTES = 200 * MEGABYTE
MAX_FACES = 2_000_000
MAX_POINTS = 1_000_000
MAX_YAML_BYTES = MEGABYTE
MAX_TABLE_BYTES = 500 * MEGABYTE  # of joint states
MAX_JSON_BYTES = 100 * MEGABYTE  # of a robot with its covariance, an estimate with its history
MAX_NAME = 255  # characters of the name of a frame
FARTHEST, THINNEST = 100.0, 1e-5  # m: of a shape, from the sensor, and along any axis of it
