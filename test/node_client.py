# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What tests ask a running node, and what they make of its answers."""

import contextlib
import math

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from ros_process import PATIENCE

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import GetInertialParameters

NODE = "/inertial_id_node"
PARAMETERS = f"{NODE}/inertial_parameters"


def tensor_of(inertia):
    """(3, 3) about the centre of mass."""
    i = inertia
    return np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])


def stamp_of(message):
    """In nanoseconds."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def com_of(inertia):
    return np.array([inertia.com.x, inertia.com.y, inertia.com.z])


def is_physical(inertia):
    """Positive mass, and principal moments that obey the triangle inequalities."""
    a, b, c = np.linalg.eigvalsh(tensor_of(inertia))
    return inertia.m > 0.0 and a > 0.0 and a + b > c


def is_known(message):
    """True if a message tells mass and centre of mass."""
    return message.valid and all(v == InertialParameters.IDENTIFIED for v in message.verdict[:4])


def all_numbers_nan(m):
    numbers = [m.inertia.m, *com_of(m.inertia), *tensor_of(m.inertia).ravel(), *m.covariance,
               *m.data_share, m.bias.force.x, m.bias.torque.z, *m.residual_rms, m.window,
               m.condition_number, m.min_eigenvalue]
    return all(math.isnan(x) for x in numbers) and m.samples == 0


def wait_for_valid(stage, after=0):
    """The newest valid estimate that arrives, of at least `after` messages more."""
    got = stage.client.listen(InertialParameters, PARAMETERS)
    count = len(got) + after
    stage.client.spin_until(lambda: len(got) >= max(count, 1) and got[-1].valid)
    return got[-1]


def hears(stage, condition):
    """True if a condition holds once all that has come was received."""
    for _ in range(200):
        stage.client.executor.spin_once(timeout_sec=0.0)
    return condition()


def wait_until_all_is_used(stage):
    """Wait until the node has used every sample that was published."""
    stage.client.spin_until(lambda: wait_for_valid(stage, 1).stale)


def current_findings(stage):
    """Names and texts of all findings that diagnostics carry now."""
    got = stage.client.listen(DiagnosticArray, "/diagnostics", 10)
    before = len(got)
    stage.client.spin_until(lambda: len(got) > before)
    return {v.key: v.value for status in got[-1].status for v in status.values}


def wait_for_finding(stage, name, text=""):
    """Wait until diagnostics carry a finding with this text."""
    def is_there():
        findings = current_findings(stage)
        return name in findings and text in findings[name]

    stage.client.spin_until(is_there)


def wait_until_cleared(stage, name):
    """Wait until diagnostics no longer carry a finding."""
    stage.client.spin_until(lambda: name not in current_findings(stage))


def get_estimate(stage, frame=""):
    return stage.client.call(GetInertialParameters, f"{NODE}/get_inertial_parameters",
                             GetInertialParameters.Request(target_frame=frame))


def set_parameter(stage, name, value):
    """What the node answers; asked again where that was lost, since a service that has just been
    found may not know the client yet."""
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    for _ in range(2):
        with contextlib.suppress(AssertionError):
            return stage.client.call(SetParameters, f"{NODE}/set_parameters", request,
                                     0.3 * PATIENCE).results[0]
    return stage.client.call(SetParameters, f"{NODE}/set_parameters", request).results[0]


def use(stage, name, value):
    """Set a parameter, which must succeed."""
    result = set_parameter(stage, name, value)
    assert result.successful, result.reason


def get_parameters(stage, *names):
    return stage.client.call(GetParameters, f"{NODE}/get_parameters",
                             GetParameters.Request(names=list(names))).values
