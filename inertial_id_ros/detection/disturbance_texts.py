"""Texts and names of the findings about disturbances, for each kind of load."""

from __future__ import annotations

from typing import NamedTuple


class DisturbanceTexts(NamedTuple):
    """Texts and names of the findings about one kind of load.

    Attributes:
        contact: a contact lasts; doubted: nothing explains the load in motion.
        zeroed: the zero moved; lost: the load has not fitted for, followed by a time.
        gap: samples are missing for more than, followed by a time.
        zeroed_name, gap_name, doubted_name: names of the findings.
    """

    contact: str
    doubted: str
    zeroed: str
    lost: str
    gap: str
    zeroed_name: str
    gap_name: str
    doubted_name: str


WRENCH_TEXTS = DisturbanceTexts(
    contact="contact: the wrench does not fit the estimate and is left out",
    doubted="no payload explains the wrench while the sensor turns: contact that lasts, or a wrong "
    "sensor or gravity frame, whose rotation may be transposed",
    zeroed="the sensor was zeroed, or its driver restarted",
    lost="the wrench did not fit the estimate for",
    gap="gaps in wrench or motion of more than",
    zeroed_name="sensor_zeroed", gap_name="wrench_gap", doubted_name="frame_wrong_suspected")

TORQUE_TEXTS = DisturbanceTexts(
    contact="contact: the joint torques do not fit the estimate and are left out",
    doubted="no payload explains the joint torques while the arm moves: contact that lasts, a "
    "robot file of another robot, or a wrench.sensor_frame that another body carries",
    zeroed="the zero of the joint torques moved, or their driver restarted: offsets of the joints "
    "are estimated beside the payload from now on",
    lost="the joint torques did not fit the estimate for",
    gap="gaps in joint states of more than",
    zeroed_name="joint_torques_zeroed", gap_name="joint_gap", doubted_name="robot_wrong_suspected")
