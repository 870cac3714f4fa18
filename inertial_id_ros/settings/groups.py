# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The settings, group by group, and what data sheets say of wrench sensors, by name."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from .spec import ANGLE, PAIR, Vector, setting


class Sensor(NamedTuple):
    """What a data sheet says of a wrench sensor: defaults of the settings of that name in `wrench`,
    for one force and one torque channel; source: where the numbers come from, as Markdown."""

    source: str
    noise: tuple[float, float]
    accuracy: tuple[float, float]
    range: tuple[float, float] = (0.0, 0.0)
    cross_talk: float = 0.005
    gain_error: float = 0.01
    drift: tuple[float, float] = (0.5, 0.02)

    def defaults(self) -> dict[str, float | tuple[float, float]]:
        """Dotted names and values of the settings that the data sheet gives."""
        return {f"wrench.{name}": value for name, value in self._asdict().items()
                if name != "source"}


# A limit in a data sheet is taken as two standard deviations. Ranges are those of the axis with the
# smallest. "Not verified": written down from memory, without the data sheet at hand; noise that
# nobody has verified is that of the usual sensor, since the data correct it, if it is not far off.
_NOISE, _ACCURACY = (0.1, 0.005), (0.5, 0.02)  # of sensors of medium quality, of others
_ROBOT_DRIFT = (1.0, 0.05)  # of wrenches that robots measure themselves
UNKNOWN = Sensor("a strain-gauge sensor of medium quality", _NOISE, (0.2, 0.01), cross_talk=0.01)
_SENSONE = Sensor("not verified", _NOISE, _ACCURACY, (500.0, 12.0))
SENSORS = {
    "unknown": UNKNOWN,
    "ideal": Sensor(
        "a simulated sensor: white noise and a constant bias", _NOISE, (0.0, 0.0),
        cross_talk=0.0, gain_error=0.0, drift=(0.0, 0.0)),
    "ati_gamma": Sensor(
        "calibration SI-130-10: ranges 130 N (z: 400 N), 10 N m; uncertainty 1 % of full scale "
        "(not verified)", (0.05, 0.002), (0.1, 0.005), (130.0, 10.0)),
    "ati_mini45": Sensor(
        "calibration SI-290-10: ranges 290 N (z: 580 N), 10 N m; uncertainty 1.5 % of full scale "
        "(not verified)", _NOISE, UNKNOWN.accuracy, (290.0, 10.0)),
    "ati_axia80": Sensor(
        "Axia80-M20, also SCHUNK FTN-AXIA80: ranges 500 N (z: 900 N), 20 N m (ATI manual "
        "9610-05-Ethernet Axia-09, 4.8); uncertainty 2 % of full scale (not verified)",
        _NOISE, (0.4, 0.015), (500.0, 20.0)),
    "robotiq_ft300": Sensor(
        "steps of 0.01 N and 0.001 N m at 100 Hz (FT 300-S manual, 4.4.2); all else not verified",
        (0.3, 0.012), _ACCURACY, (300.0, 30.0)),
    "onrobot_hex": Sensor(
        "HEX-E: ranges 200 N, 10 N m (z: 6.5 N m); non-linearity 2 %, hysteresis 2 %, cross-talk "
        "5 % (not verified); what hysteresis takes off the gain is estimated, not part of it",
        _NOISE, (1.5, 0.07), (200.0, 6.5), 0.025),
    "bota_sensone": _SENSONE,
    "bota_rokubi": _SENSONE._replace(
        source="as SensONE; not verified, and its ranges are not known", range=(0.0, 0.0)),
    "ufactory": Sensor(
        "six-axis sensor of the xArm: ranges 150 N (z: 200 N), 4 N m; resolution 0.1 N (z: 0.15 "
        "N), 0.005 N m; hysteresis 2.5 % (z and torque: 1 %), cross-talk 3 % (UFACTORY user "
        "manual, 6-axis force torque sensor, 6); gain and drift not verified",
        _NOISE, (1.5, 0.03), (150.0, 4.0), 0.015),
    # No range: UR's is that of the specified accuracy, and a payload of 12.5 kg exceeds it.
    "ur_e_series": Sensor(
        "UR5e: precision 3.5 N, accuracy 4 N; UR10e: 5 N and 0.2 N m, 5.5 N and 0.5 N m within "
        "100 N and 10 N m (data sheets; whether these are limits they do not say); noise and drift "
        "not verified", (0.5, 0.03), (1.2, 0.06), drift=_ROBOT_DRIFT),
    "ur_cb_series": Sensor(
        "no sensor, the wrench comes from motor currents: 10 N, 5 N m "
        "(forum.universal-robots.com/t/229); all else not verified",
        (1.0, 0.1), (5.0, 2.5), gain_error=0.02, drift=_ROBOT_DRIFT),
    "franka_joint_torque": Sensor(
        "external wrench, from torque sensors in the joints: relative accuracy 0.8 N, "
        "repeatability 0.15 N (data sheet, as quoted by others); all else not verified",
        (0.5, 0.05), (0.8, 0.1), cross_talk=0.0, drift=_ROBOT_DRIFT),
    "kuka_lbr_joint_torque": Sensor(
        "external wrench, from torque sensors in the joints, 2 % of their largest torque (not "
        "verified)", (1.0, 0.1), (2.0, 0.2), cross_talk=0.0, gain_error=0.02, drift=_ROBOT_DRIFT),
}
ESTIMATORS = ("density", "entropic", "lmi", "manifold", "ols", "pmd", "wls")
LONGEST = 120.0  # s, of a window; an estimate whose data are older is an old one


@dataclass(frozen=True)
class LoadSettings:
    robot: str = setting(
        "", "Robot file of identify_robot: the load is measured by the efforts of the joint "
        "states (torques, or motor currents where it was identified from these), and "
        "wrench.sensor_frame is the link in which the payload is given. Empty: a sensor in the "
        "wrist measures it.")
    rated_payload: float = setting(
        0.0, "Payload for which the robot is made: ~/apply sends no larger mass. 0: the rating of "
        "the model that the robot description names, or ~/apply refuses (docs/apply.md).",
        unit="kg", low=0.0, runtime=True)
    reference_mass: float = setting(
        0.0, "Mass of what is carried now (beside a stored tool), where it was weighed: an "
        "estimate that contradicts it shows wrong units, gain or sign. 0: not known.", unit="kg",
        low=0.0, runtime=True)


@dataclass(frozen=True)
class JointStatesSettings:
    topic: str = setting("joint_states", "Joint state topic (sensor_msgs/JointState).")


@dataclass(frozen=True)
class RobotDescriptionSettings:
    topic: str = setting("robot_description", "URDF topic (std_msgs/String, transient local).")
    file: str = setting("", "URDF file to use in place of the topic; empty: the topic.")


@dataclass(frozen=True)
class WrenchSettings:
    topic: str = setting("wrench", "Wrench topic (geometry_msgs/WrenchStamped).")
    convention: str = setting(
        "on_sensor", "Sign at rest: on_sensor reads the payload's weight (+m g: ATI, UR, Gazebo), "
        "on_environment its opposite (Franka).", choices=("on_sensor", "on_environment"))
    sensor_frame: str = setting("", "Frame of the wrench; empty: the frame_id of the messages.")
    sensor: str = setting(
        "unknown", "Sensor whose data sheet gives noise, accuracy, gain error, cross-talk, drift "
        "and range where they are not set themselves (values below).", choices=tuple(SENSORS))
    noise: Vector = setting(
        UNKNOWN.noise, "Standard deviation of one sample of a force and of a torque (data sheet); "
        "corrected from the residual.", above=0.0, runtime=True, **PAIR)
    bias_sd: Vector = setting(
        (5.0, 0.5), "Standard deviation of the bias of a force and of a torque before any data.",
        above=0.0, runtime=True, **PAIR)
    range: Vector = setting(
        UNKNOWN.range, "Force and torque at which a channel saturates; 0: unknown.",
        low=0.0, **PAIR)
    accuracy: Vector = setting(
        UNKNOWN.accuracy, "What one force and one torque channel may be wrong by beside noise, "
        "bias, gain and cross-talk (non-linearity, hysteresis; one standard deviation).",
        low=0.0, runtime=True, **PAIR)
    gain_error: float = setting(
        UNKNOWN.gain_error, "Error of the gain of each channel, relative to its reading (one "
        "standard deviation).", low=0.0, high=1.0, runtime=True)
    cross_talk: float = setting(
        UNKNOWN.cross_talk, "What a channel reads of each other one (one standard deviation), "
        "both relative to their ranges.", low=0.0, high=1.0, runtime=True)
    drift: Vector = setting(
        UNKNOWN.drift, "How far the bias of a force and of a torque drifts in a minute (one "
        "standard deviation).", unit="N/min, N m/min", low=0.0, length=2, runtime=True)

    @property
    def sign(self) -> float:
        """Sign of the reading against the wrench on the payload, ``A phi``."""
        return -1.0 if self.convention == "on_sensor" else 1.0


@dataclass(frozen=True)
class GravitySettings:
    frame: str = setting(
        "", "Frame whose z axis points up; empty: the root of the robot (with the fixed transforms "
        "above it), or of TF.")


@dataclass(frozen=True)
class AlignmentSettings:
    rotation_sd: float = setting(
        0.5, "Standard deviation of the sensor's rotation against its frame, about each axis; "
        "0: exact.", **ANGLE)
    tilt_sd: float = setting(
        0.25, "Standard deviation of the tilt of gravity against its frame, about x and y; "
        "0: exact.", **ANGLE)
    orientation_sd: float = setting(
        0.4, "Standard deviation of the orientation of the sensor's frame in the robot "
        "description, about each axis, which no data show; it widens the intervals. 0: exact.",
        **ANGLE)
    position_sd: float = setting(
        0.002, "Standard deviation of the position of the sensor's origin in its frame, along each "
        "axis, which widens the interval of the centre of mass; 0: exact.", unit="m", low=0.0,
        high=1.0, runtime=True)
    delay_sd: float = setting(
        0.05, "Standard deviation of the offset between the clocks of wrench and motion; "
        "0: exact.", unit="s", low=0.0, high=1.0, runtime=True)


@dataclass(frozen=True)
class BufferSettings:
    window: float = setting(30.0, "Length of the rolling buffer.", unit="s", low=1.0,
                             high=LONGEST, runtime=True)


@dataclass(frozen=True)
class PrecompensatedSettings:
    source: str = setting(
        "settings", "Where the payload that the driver compensates is stated; the estimate is the "
        "sum of it and of what is measured. settings: mass, com and inertia below; "
        "none: the wrench is not of the robot's driver; inertia: a topic with "
        "geometry_msgs/InertiaStamped; franka: inertia_load of franka_msgs/FrankaRobotState; "
        "dynamic_joint_states: control_msgs/DynamicJointState; state_interfaces: a "
        "state_interfaces_broadcaster. When it changes, all data before are forgotten.",
        choices=("settings", "none", "inertia", "franka", "dynamic_joint_states",
                 "state_interfaces"))
    topic: str = setting("", "Topic that states it; state_interfaces: name of the broadcaster.")
    name: str = setting(
        "payload", "Name of the payload among interfaces, with the prefix of the arm; empty: "
        "nobody publishes it.")
    terms: str = setting(
        "all", "What of that payload the driver compensates. all: its weight and inertial forces, "
        "until the motion shows clearly that it is not so; weight: its weight alone.",
        choices=("all", "weight"))
    frame: str = setting(
        "", "Frame of the payload that the driver reports; empty: that of its messages, or the "
        "sensor's.")
    mass: float = setting(
        0.0, "Mass that the driver compensates; 0: none.", unit="kg", low=0.0, runtime=True)
    com: Vector = setting(
        (0.0,) * 3, "Its centre of mass in the sensor frame.", unit="m", length=3,
        runtime=True)
    inertia: Vector = setting(
        (0.0,) * 6, "Its inertia about the centre of mass, sensor axes: xx, xy, xz, yy, yz, zz.",
        unit="kg m^2", length=6, runtime=True)


@dataclass(frozen=True)
class ShapeSettings:
    type: str = setting(
        "none", "Shape of the object in the sensor frame.",
        choices=("none", "box", "cylinder", "sphere", "mesh"))
    size: Vector = setting(
        (), "Box: lengths x, y, z. Cylinder: radius, height (along z). Sphere: radius. Several of "
        "the type make up one object: the numbers of one after the other, likewise in shape.center "
        "and shape.rpy.", unit="m", above=0.0)
    center: Vector = setting((0.0,) * 3, "Centre, or origin of the mesh.", unit="m")
    rpy: Vector = setting((0.0,) * 3, "Roll, pitch, yaw.", unit="rad")
    mesh: str = setting("", "Mesh file in metres, or file:// or package:// resource.")
    error: float = setting(
        1.0, "How wrong the shape may be: 1 stands for 0.01 m in its position along each axis, 5 "
        "deg in its rotation about each axis through its middle, and 20 % in its size along each "
        "(one standard deviation); 0: exact.", low=0.0, high=10.0)
    bounding: bool = setting(True, "The shape only bounds the object; false: the object fills it.")
    max_reach: float = setting(
        0.5, "Farthest that an object of unknown shape (type none) reaches from the sensor frame's "
        "origin; for density.", unit="m", above=0.0, high=10.0)


@dataclass(frozen=True)
class ToolSettings:
    file: str = setting("", "Tool file: the object is estimated apart from it. Empty: none.")


@dataclass(frozen=True)
class EstimatorSettings:
    method: str = setting(
        "density", "Estimator (see docs/methods.md).", choices=ESTIMATORS, runtime=True)
    weighting: str = setting(
        "noise", "noise: full model, whitened by the sensor noise; dynamism: blend of the full and "
        "the gravity-only model, for entropic, lmi, manifold, pmd and wls.",
        choices=("noise", "dynamism"), runtime=True)
    rate: float = setting(2.0, "Estimates a second.", unit="Hz", above=0.0, high=10.0, runtime=True)


@dataclass(frozen=True)
class PmdSettings:
    form: str = setting(
        "norm", "norm: Euclidean norms, torque weighed against force by the sensor noise; "
        "squared: norm as a quadratic program.", choices=("norm", "squared"), runtime=True)


@dataclass(frozen=True)
class LmiSettings:
    support: str = setting(
        "none", "Region that must hold the mass. box: centre of mass in the bounding box; "
        "ellipsoid: density realisable on the bounding ellipsoid; ellipsoids: on the union of "
        "those of its primitives.", choices=("none", "box", "ellipsoid", "ellipsoids"),
        runtime=True)


@dataclass(frozen=True)
class StateSettings:
    directory: str = setting(
        "~/.ros/inertial_id_ros", "The only folder in which files are written.")


@dataclass(frozen=True)
class CompensationSettings:
    terms: str = setting(
        "acceleration", "What of the payload is subtracted. gravity: its weight; velocity: also "
        "its centrifugal and gyroscopic forces; acceleration: also its other inertial forces.",
        choices=("gravity", "velocity", "acceleration"), runtime=True)
    max_age: ClassVar[float] = LONGEST  # s, of an estimate from which on a finding calls it old


@dataclass(frozen=True)
class MotionSettings:
    execute: bool = setting(
        False, "True if identify_payload may move the arm beside this node, once a person agrees. "
        "A node that it starts allows it, unless its settings say otherwise.", runtime=True)


@dataclass(frozen=True)
class ApplySettings:
    target: str = setting(
        "", "What takes the payload where ~/apply names none (docs/apply.md).", runtime=True)
    service: str = setting(
        "", "Its service, or the node whose parameters it sets (ros2_control); empty: the usual "
        "one.", runtime=True)
    frame: str = setting(
        "", "Frame in which it wants the payload; empty: that of the target.", runtime=True)
    tool: str = setting(
        "", "Name (Doosan) or number (FANUC: of the payload schedule) of the tool in controllers "
        "that keep several; empty: inertial_id, or 1.", runtime=True)
    max_com: ClassVar[float] = 1.0  # m, of a centre of mass that is sent; beyond, a unit is wrong
    rest_speed: ClassVar[float] = 0.02  # of a joint [rad/s or m/s]; nothing is sent in motion
    timeout: ClassVar[float] = 10.0  # longest wait for each answer of the target [s]


@dataclass(frozen=True)
class LifecycleSettings:
    autostart: bool = setting(
        True, "Configure and activate the node when it starts; false: others do so.")
