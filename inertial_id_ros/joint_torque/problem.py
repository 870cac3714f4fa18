"""Ten parameters of a payload from joint torques, relative to an identified robot without it.

``tau - Y phi_robot = Y d + Y_last T phi``: Y_last are the columns of the body that carries the
payload, T moves the payload's parameters from its frame into that body's, and d is what is wrong
with the identified robot. d is eliminated with its covariance, to which is added what friction may
have drifted, so that the answer's covariance holds the uncertainty of the robot.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..estimators.base import Marginal, Problem, eliminate
from ..free_fit import free_fit
from ..inertia import Array, transform_matrix
from ..robot.compression import Compressed, compress_rows
from ..robot.joint_terms import COULOMB, OFFSET, VISCOUS
from ..robot.model import RobotModel
from ..robot_tool.residuals import independent_noise
from ..robot_tool.robot_file import IdentifiedRobot, reduced_model
from ..row_layout import BIASES, PARAMETERS
from ..tool import Tool

_ROUNDS = 2
_LEAST = 1e-3  # of the robot's own noise: what rows leave at least


class TorqueProblem:
    """The payload's problem, for one robot and one frame.

    Args:
        robot: identified; urdf: its description; frame: link, fixed to a body of the robot.
        drift: what friction may have changed since, relative to it.

    Raises:
        InvalidModel: another description, or no moving body carries the frame.
        UnknownFrame: the description has no such link.
    """

    def __init__(self, robot: IdentifiedRobot, urdf: str, frame: str, drift: float) -> None:
        self.model = robot.model(urdf)
        self.robot = robot
        where, placement = _body_of(self.model, urdf, frame)
        self._columns = self.model.body_slice(where)
        self._to_body = transform_matrix(placement.rotation, placement.translation)
        self._root = _root_of(robot.covariance + np.diag(_drift(self.model, robot.phi, drift)**2))

    def build(self, regressor: Array, torque: Array, tool: Tool | None) -> tuple[Problem, Array]:
        """The problem of rows (r, joints, p), (r, joints), and the joints' residual rms [N m].

        Args:
            tool: taken out, as known to its covariance; None: none.
        """
        payload = np.zeros((self.model.size, PARAMETERS))
        payload[self._columns] = self._to_body
        known, states = self.robot.phi, self._root
        if tool is not None:
            known = known + payload @ tool.phi
            states = np.concatenate([states, payload @ tool.root], axis=1)
        data = compress_rows(regressor, torque)
        least = _LEAST * self.robot.noise
        noise = self.robot.noise
        for _ in range(_ROUNDS):
            marginal = _marginal(data, payload, states, known, noise)
            phi, _ = free_fit(marginal.information, marginal.matrix.T @ marginal.target)
            errors = marginal.states(phi)[BIASES:]
            left = torque - regressor @ (known + payload @ phi + states @ errors)
            noise = np.maximum(independent_noise(left, least), least)
        marginal = _marginal(data, payload, states, known, noise)
        nothing = np.zeros((0, PARAMETERS + BIASES + 1))
        problem = Problem(nothing, nothing, nothing, np.ones(BIASES), np.zeros(BIASES),
                          np.zeros(BIASES), len(torque), noisy=marginal)
        return problem, np.sqrt(np.mean(left**2, axis=0))


def _marginal(data: Compressed, payload: Array, states: Array, known: Array, noise: Array
              ) -> Marginal:
    """Errors of the robot eliminated; there is no sensor, and so its biases are zero.

    Args:
        payload: (p, 10) robot parameters of a payload's; states: (p, s) those of unit errors;
        known: (p,) those taken out; noise: (joints,).
    """
    p, count = len(known), states.shape[1]
    matrix = np.zeros((p + 1, PARAMETERS + BIASES + count + 1))
    matrix[:p, :PARAMETERS] = payload
    matrix[:p, PARAMETERS + BIASES:-1] = states
    matrix[:, -1] = np.append(-known, 1.0)
    prior = np.zeros((BIASES + count, matrix.shape[1]))
    prior[:, PARAMETERS:-1] = np.eye(BIASES + count)
    return eliminate(np.concatenate([data.stacked(noise) @ matrix, prior]))


def _drift(model: RobotModel, phi: Array, share: float) -> Array:
    """Standard deviations (p,) by which friction may have changed; offsets as Coulomb friction."""
    out = np.zeros(model.size)
    for joint in model.joint_names:
        for term, like in ((VISCOUS, VISCOUS), (COULOMB, COULOMB), (OFFSET, COULOMB)):
            if term in model.terms.names and like in model.terms.names:
                out[model.term_index(joint, term)] = share * abs(phi[model.term_index(joint, like)])
    return out


def _root_of(covariance: Array) -> Array:
    """Square root (p, p) of a covariance that may be singular."""
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
    return np.asarray(sd[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def _body_of(model: RobotModel, urdf: str, frame: str) -> tuple[str, pin.SE3]:
    """The body that carries a link, and the link's place in the body's frame."""
    full = reduced_model(urdf, model.joint_names)
    if not full.existFrame(frame, pin.FrameType.BODY):
        raise UnknownFrame(f"the robot description has no link '{frame}', in which the payload is "
                           "to be given (wrench.sensor_frame)")
    at = full.frames[full.getFrameId(frame, pin.FrameType.BODY)]
    if at.parentJoint == 0:
        raise InvalidModel(f"no joint moves '{frame}' (wrench.sensor_frame)")
    return model.bodies[at.parentJoint - 1], at.placement
