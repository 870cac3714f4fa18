# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The result of identification: parameters, covariance, verdict, findings; or why there is none.

A parameter whose 95 % interval (1.96 standard deviations) is within its limit is `identified` where
at least half of its information comes from the data, else `prior-dominated`; outside of the limit
it is `unobserved` by this motion. Limits: mass 5 %; centre of mass 5 mm, or 5 % of its distance if
that is larger; inertia 20 % of the mean principal moment.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np

from . import inertia
from .errors import printable
from .inertia import GROUPS, Array, Body

CONFIDENCE_95 = 1.96  # standard deviations on either side that hold 95 % of a normal distribution
MASS_SHARE, COM_LENGTH, INERTIA_SHARE, DATA_SHARE = 0.05, 0.005, 0.2, 0.5
COM_SHARE = MASS_SHARE  # of its distance
NOTHING_CARRIED = "nothing is carried beside the tool"
VERDICT_WORDS = ("unobserved", "prior-dominated", "identified")


class ParameterVerdict(IntEnum):
    """How far one parameter can be trusted (see the module)."""

    UNOBSERVED = 0  # the motion does not tell it
    PRIOR_DOMINATED = 1  # known, but mostly from the prior
    IDENTIFIED = 2  # known from the data

    def __str__(self) -> str:
        return VERDICT_WORDS[self]

    __repr__ = __str__


UNOBSERVED, PRIOR_DOMINATED, IDENTIFIED = ParameterVerdict


def limits(report: Array, sd: Array) -> Array:
    """Largest half widths (10,) of intervals with which parameters count as known.

    Args:
        report, sd: (10,) mass, centre of mass, inertia about it.
    """
    com = max(COM_LENGTH, COM_SHARE * float(np.linalg.norm(report[1:4])))
    moments, widths = report[[4, 7, 9]], sd[[4, 7, 9]]  # about the axes
    from_one = float((moments - 2.0 * widths).max()) * 2.0 / 3.0  # of the triangle inequality
    from_all = float(moments.sum() - 2.0 * np.linalg.norm(widths)) / 3.0
    moment = max(from_all, from_one, 0.0)
    return np.array([MASS_SHARE * report[0], *3 * (com,), *6 * (INERTIA_SHARE * moment,)])


def judge(phi: Array, covariance: Array, by_data: Array
          ) -> tuple[Array, tuple[ParameterVerdict, ...]]:
    """Share (10,) of the information about each reported parameter that comes from the data, 0 to
    1; its verdict.

    Args:
        phi, covariance: (10,), (10, 10) of the answer; by_data: (10, 10) by the data alone.
    """
    report, jacobian = inertia.report_from_phi(phi), inertia.report_jacobian(phi)
    variance, alone = (np.maximum(np.einsum("ij,jk,ik->i", jacobian, some, jacobian), 0.0)
                       for some in (covariance, by_data))
    share, sd = np.minimum(variance / alone, 1.0), np.sqrt(variance)
    known = CONFIDENCE_95 * sd <= limits(report, sd)
    return share, tuple(
        UNOBSERVED if not ok else IDENTIFIED if s >= DATA_SHARE else PRIOR_DOMINATED
        for ok, s in zip(known.tolist(), share.tolist(), strict=True))


# Fields beside those of the body that the JSON report holds as they are.
_REPORTED = ("bias", "data_share", "alignment", "alignment_sigma", "residual_rms", "window",
             "min_eigenvalue", "solve_time", "mass_rate", "com_speed")


@dataclass(frozen=True)
class Estimate:
    """One estimate of the payload in one frame.

    Attributes:
        valid: True; tells it from a `NoEstimate`.
        stamp_ns: time of the newest sample used [ns since epoch]; it goes back where newer samples
            turn out to be suspect.
        frame_id: frame in whose axes and about whose origin everything is given.
        phi: inertial parameters (10,) about the frame's origin (see `inertia`).
        phi_covariance: covariance (10, 10) of phi.
        bias: sensor reading at zero load (6,) [N, N m], sign of the incoming topic, sensor frame.
        method, weighting: of the estimator that made it.
        data_share: share of each reported parameter that comes from the data (10,), 0 to 1.
        verdict: UNOBSERVED, PRIOR_DOMINATED or IDENTIFIED for each reported parameter (10,).
        alignment: (6,) rotation of the sensor about its axes [rad], tilt of gravity about its
            frame's x and y [rad], time by which wrench stamps are early [s]; alignment_sigma:
            (6,) their standard deviations, zero for those not estimated.
        residual_rms: per channel (6,) [N, N m], of the low-passed rows.
        samples: raw wrench samples in the window; window: its length [s].
        condition_number: of the regressor with its columns scaled to unit length.
        min_eigenvalue: smallest eigenvalue of the pseudo-inertia; positive for every real body.
        solve_time: seconds.
        stale: repeated, because no new data came; stale_reason: why none did, where known.
        tool_apart: phi is of the object alone, without the stored tool.
        mass_rate: of a payload that pours [kg/s], com_speed: of the centre of mass of one that
            slides [m/s]; 0: it is not seen to do so.
        doubted: why mass or centre of mass count as unobserved although the data tell them; empty
            where they do not.
        findings: everything that deserves attention, one sentence each.
    """

    valid: ClassVar[bool] = True

    stamp_ns: int
    frame_id: str
    phi: Array
    phi_covariance: Array
    bias: Array
    method: str
    weighting: str
    data_share: Array
    verdict: tuple[ParameterVerdict, ...]
    alignment: Array
    alignment_sigma: Array
    residual_rms: Array
    samples: int
    window: float
    condition_number: float
    min_eigenvalue: float
    solve_time: float
    stale: bool = False
    stale_reason: str = ""
    tool_apart: bool = False
    doubted: str = ""
    mass_rate: float = 0.0
    com_speed: float = 0.0
    findings: tuple[str, ...] = ()

    @property
    def body(self) -> Body:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2], in `frame_id`."""
        return inertia.body_from_phi(self.phi)

    def is_known(self, group: str) -> bool:
        """True if nothing of "mass", "com" or "inertia" is UNOBSERVED."""
        return UNOBSERVED not in self.verdict[GROUPS[group]]

    @property
    def carries_nothing(self) -> bool:
        """True if the tool is known to be empty: the interval of the mass holds zero."""
        return bool(self.tool_apart and self.verdict[0] == IDENTIFIED
                    and self.phi[0] < CONFIDENCE_95 * np.sqrt(self.phi_covariance[0, 0]))

    @property
    def walk(self) -> str:
        """How mass and centre of mass change now, in words; empty where they do not."""
        return ", ".join(text for value, text in (
            (self.mass_rate, f"{1e3 * self.mass_rate:+.0f} g/s"),
            (self.com_speed, f"centre of mass at {1e3 * self.com_speed:.2g} mm/s")) if value)

    @property
    def report(self) -> Array:
        """Mass, centre of mass, and inertia about it (10,), in the order of `PARAMETER_NAMES`."""
        return inertia.report_from_phi(self.phi)

    @property
    def covariance(self) -> Array:
        """Covariance (10, 10) of `report`."""
        jacobian = inertia.report_jacobian(self.phi)
        covariance = jacobian @ self.phi_covariance @ jacobian.T
        return 0.5 * (covariance + covariance.T)

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,) of `report`."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    def as_stale(self, reason: str = "") -> "Estimate":
        """The same estimate, marked as repeated because no new data came; reason: why none did."""
        return replace(self, stale=True, stale_reason=reason)

    def in_frame(self, frame_id: str, rotation: Array, translation: Array) -> "Estimate":
        """The same body in another frame, where ``x_new = rotation x + translation`` (3, 3), (3,).

        The bias stays the sensor's. A rotation mixes the entries of the centre of mass, and of the
        tensor, among themselves: each counts as no better known than the worst of its group.
        """
        matrix = inertia.transform_matrix(rotation, translation)
        phi = inertia.transform_phi(self.phi, rotation, translation)
        share, verdict = np.array(self.data_share, dtype=float), list(self.verdict)
        for group in () if np.allclose(rotation, np.eye(3), atol=1e-9) else GROUPS.values():
            share[group] = share[group].min()
            verdict[group] = [min(verdict[group])] * len(verdict[group])
        return replace(self, frame_id=frame_id, phi=phi, min_eigenvalue=inertia.min_eigenvalue(phi),
                       phi_covariance=matrix @ self.phi_covariance @ matrix.T,
                       data_share=share, verdict=tuple(verdict))

    def to_json(self) -> dict[str, Any]:
        """The fields of the JSON report, SI units, in `frame_id`."""
        body = self.body
        return {
            "mass": body.mass, "com": body.com.tolist(), "inertia_com": body.inertia_com.tolist(),
            "frame_id": self.frame_id, "covariance": self.covariance.tolist(),
            "valid": True, "stale": self.stale, "stale_reason": self.stale_reason,
            "tool_apart": self.tool_apart, "doubted": self.doubted,
            "method": self.method, "weighting": self.weighting, "samples": self.samples,
            "stamp_ns": self.stamp_ns, "verdict": [VERDICT_WORDS[v] for v in self.verdict],
            "condition_number": self.condition_number,
            **{name: np.asarray(getattr(self, name)).tolist() for name in _REPORTED},
            "diagnostics": list(self.findings),
        }


@dataclass(frozen=True)
class NoEstimate:
    """The answer where there is no estimate.

    Attributes:
        valid: False; tells it from an `Estimate`.
        stamp_ns: time of the newest sample [ns since epoch]; 0 before any.
        frame_id: frame of the sensor; empty until known.
        reason: why there is no estimate, in one sentence.
        findings: everything that deserves attention, one sentence each.
        is_finding: whether one of them gives the reason, too; needs_motion: whether more motion
            would give one.
    """

    valid: ClassVar[bool] = False
    stamp_ns: int
    frame_id: str
    reason: str
    findings: tuple[str, ...] = ()
    is_finding: bool = False
    needs_motion: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason))

    def to_json(self) -> dict[str, Any]:
        """The fields of the JSON report: null where an estimate has numbers."""
        return {"mass": None, "com": None, "inertia_com": None, "frame_id": self.frame_id,
                "covariance": None, "bias": None, "valid": False, "method": None,
                "residual_rms": None, "samples": 0, "stamp_ns": self.stamp_ns,
                "diagnostics": [self.reason, *self.findings]}


Outcome = Estimate | NoEstimate
