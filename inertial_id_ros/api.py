# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification from arrays and recordings, without ROS: the stable interface of this package.

What `__all__` names keeps its meaning from version to version; every other module may change.

All stamps are whole nanoseconds (`np.round(1e9 * seconds).astype(np.int64)`), units are SI, phi and
bodies are in the frame of the wrench. A mistake in a call raises an `InertialIdError` that names
what is wrong and what is allowed. Bad samples (NaN, saturated) are left out and named in the
findings of the result. Where the data do not suffice, the result is a `NoEstimate` with the reason.
"""

from pathlib import Path

from .errors import InertialIdError
from .estimate import Estimate, NoEstimate, ParameterVerdict
from .export import ExportedPayload, export_payload
from .identify import Identifier
from .identify.measured_motion import identify_accelerations
from .inertia import PARAMETER_NAMES, Body
from .kinds import Finding
from .model.tool import Tool, load_tool, save_tool, tool_from_estimate
from .robot import JointStates, RobotRequest, check_base_parameters, identify_robot, save_robot
from .settings import Settings, settings_from_mapping

__all__ = ["PARAMETER_NAMES", "Body", "ExportedPayload", "Estimate", "Finding", "Identifier",
           "InertialIdError", "JointStates", "NoEstimate", "ParameterVerdict", "RobotRequest",
           "Settings", "Tool", "check_base_parameters", "export_payload", "identify_accelerations",
           "identify_recording", "identify_robot", "load_tool", "save_robot", "save_tool",
           "settings_from_mapping", "tool_from_estimate"]


def identify_recording(path: str | Path, settings: Settings | None = None) -> Estimate | NoEstimate:
    """Identify the payload of a recording, as `identify_bag` does: a rosbag2 folder, .mcap or .db3
    file, a table (.csv, .npz, .parquet), or a LeRobot dataset.

    Raises:
        RecordingError: not readable, or it lacks a topic that is needed; InertialIdError: a
            setting cannot be used.
    """
    from .apps.bag.offline import identify_recording

    return identify_recording(Path(path), settings or Settings()).outcome
