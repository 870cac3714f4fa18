"""Every setting of the pipeline: type, default, unit, range and meaning, in one place.

The node declares its parameters from this table, the bag tool reads the same names from YAML, and
the documentation page is made from it, so that a setting means the same everywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .errors import InvalidSetting
from .setting_spec import Spec, Vector, check, coerce, iter_group, setting, unknown_setting

# Each is a module of `estimators`.
ESTIMATORS = ("density", "entropic", "lmi", "manifold", "ols", "pmd", "rtls", "uniform", "wls")


_HOUR = 8.0  # drift in an hour over that in a minute: about the square root of 60, as it wanders


class Sensor(NamedTuple):
    """What a data sheet says of a wrench sensor: defaults of the settings of that name in `wrench`.

    Attributes:
        noise, accuracy, drift, range: of one force and of one torque channel.
        source: where the numbers come from, as Markdown.
    """

    noise: tuple[float, float]
    accuracy: tuple[float, float]
    gain_error: float
    cross_talk: float
    drift: tuple[float, float]
    range: tuple[float, float]
    source: str

    def defaults(self) -> dict[str, float]:
        """Dotted names and values of the settings that the data sheet gives."""
        pairs = {"noise": self.noise, "accuracy": self.accuracy, "drift": self.drift,
                 "range": self.range}
        return {"wrench.gain_error": self.gain_error, "wrench.cross_talk": self.cross_talk,
                "tare.force_drift": _HOUR * self.drift[0],
                "tare.torque_drift": _HOUR * self.drift[1]} | {
            f"wrench.{channel}_{name}": value for name, pair in pairs.items()
            for channel, value in zip(("force", "torque"), pair, strict=True)}


# A limit in a data sheet is taken as two standard deviations. Ranges are those of the axis with the
# smallest. "Not verified": written down from memory, without the data sheet at hand.
SENSORS = {
    "unknown": Sensor(
        (0.1, 0.005), (0.2, 0.01), 0.01, 0.01, (0.5, 0.02), (0.0, 0.0),
        "a strain-gauge sensor of medium quality"),
    "ideal": Sensor(
        (0.1, 0.005), (0.0, 0.0), 0.0, 0.0, (0.0, 0.0), (0.0, 0.0),
        "a simulated sensor: white noise and a constant bias"),
    "ati_gamma": Sensor(
        (0.05, 0.002), (0.1, 0.005), 0.008, 0.003, (0.5, 0.02), (130.0, 10.0),
        "calibration SI-130-10: ranges 130 N (z: 400 N), 10 N m; uncertainty 1 % of full scale "
        "(not verified); one held still in 24 poses by a KUKA arm leaves 0.09 N, 0.003 N m"),
    "ati_mini45": Sensor(
        (0.1, 0.002), (0.2, 0.005), 0.01, 0.004, (0.5, 0.02), (290.0, 10.0),
        "calibration SI-290-10: ranges 290 N (z: 580 N), 10 N m; uncertainty 1.5 % of full scale "
        "(not verified)"),
    "ati_axia80": Sensor(
        (0.1, 0.004), (0.4, 0.015), 0.01, 0.005, (0.5, 0.02), (500.0, 20.0),
        "Axia80-M20, also SCHUNK FTN-AXIA80: ranges 500 N (z: 900 N), 20 N m (ATI manual "
        "9610-05-Ethernet Axia-09, 4.8); uncertainty 2 % of full scale (not verified)"),
    "robotiq_ft300": Sensor(
        (0.3, 0.012), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (300.0, 30.0),
        "steps of 0.01 N and 0.001 N m at 100 Hz (FT 300-S manual, 4.4.2); all else not verified"),
    "onrobot_hex": Sensor(
        (0.1, 0.004), (1.5, 0.07), 0.1, 0.025, (0.5, 0.02), (200.0, 6.5),
        "HEX-E: ranges 200 N, 10 N m (z: 6.5 N m); non-linearity 2 %, hysteresis 2 %, cross-talk "
        "5 % (not verified); hysteresis of 2 % of the range takes up to a tenth and more off "
        "the gain for a load that uses a fifth of it"),
    "bota_sensone": Sensor(
        (0.15, 0.004), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (500.0, 12.0),
        "not verified"),
    "bota_rokubi": Sensor(
        (0.15, 0.004), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (0.0, 0.0),
        "as SensONE; not verified, and its ranges are not known"),
    "ufactory": Sensor(
        (0.15, 0.005), (1.5, 0.03), 0.01, 0.015, (0.5, 0.02), (150.0, 4.0),
        "six-axis sensor of the xArm: ranges 150 N (z: 200 N), 4 N m; resolution 0.1 N (z: 0.15 "
        "N), 0.005 N m; hysteresis 2.5 % (z and torque: 1 %), cross-talk 3 % (UFACTORY user "
        "manual, 6-axis force torque sensor, 6); gain and drift not verified"),
    # No range: UR's is that of the specified accuracy, and a payload of 12.5 kg exceeds it.
    "ur_e_series": Sensor(
        (0.5, 0.03), (1.2, 0.06), 0.01, 0.005, (1.0, 0.05), (0.0, 0.0),
        "UR5e: precision 3.5 N, accuracy 4 N; UR10e: 5 N and 0.2 N m, 5.5 N and 0.5 N m within "
        "100 N and 10 N m (data sheets; whether these are limits they do not say); noise and drift "
        "not verified"),
    "ur_cb_series": Sensor(
        (1.0, 0.1), (5.0, 2.5), 0.02, 0.005, (1.0, 0.1), (0.0, 0.0),
        "no sensor, the wrench comes from motor currents: 10 N, 5 N m "
        "(forum.universal-robots.com/t/229); all else not verified"),
    "franka_joint_torque": Sensor(
        (0.5, 0.05), (0.8, 0.1), 0.01, 0.0, (0.5, 0.05), (0.0, 0.0),
        "external wrench, from torque sensors in the joints: relative accuracy 0.8 N, "
        "repeatability 0.15 N (data sheet, as quoted by others); all else not verified"),
    "kuka_lbr_joint_torque": Sensor(
        (1.0, 0.1), (2.0, 0.2), 0.02, 0.0, (0.5, 0.05), (0.0, 0.0),
        "external wrench, from torque sensors in the joints, 2 % of their largest torque (not "
        "verified)"),
}
_UNKNOWN = SENSORS["unknown"]


@dataclass(frozen=True)
class ContactSettings:
    """Intervals that do not fit the estimate so far are left out."""

    detect: bool = setting(
        True, "Leave out intervals in which the environment touches the payload.")
    enter: float = setting(
        6.0, "Residual from which on samples are left out, in standard deviations of what is "
        "expected.", low=2.0, high=100.0)
    leave: float = setting(
        4.0, "Residual below which samples are taken again, in the same unit.", low=1.0,
        high=100.0)
    hold: float = setting(
        0.2, "Time for which the residual must have been that small.", unit="s", low=0.0,
        high=10.0)
    longest: float = setting(
        30.0, "Time after which the estimate, not the contact, is taken to be wrong: the buffer is "
        "flushed.", unit="s", low=1.0, high=3600.0)


@dataclass(frozen=True)
class ChangeSettings:
    """A payload that is gripped or released, or a sensor that is zeroed, flushes the buffer."""

    detect: bool = setting(
        True, "Flush the buffer when the payload or the zero of the sensor has changed.")
    steady: float = setting(
        0.1, "Time for which a change must explain the wrench before it counts; longer by itself "
        "for one that comes slowly.", unit="s", low=0.04, high=3.0)
    fit: float = setting(
        1.5, "Largest residual that a change may leave, in standard deviations of the noise.",
        low=0.1, high=100.0)


@dataclass(frozen=True)
class WrenchSettings:
    topic: str = setting("wrench", "Wrench topic (geometry_msgs/WrenchStamped).")
    convention: str = setting(
        "on_sensor", "Sign at rest: on_sensor reads the payload's weight (+m g: ATI, UR, Gazebo), "
        "on_environment its opposite (Franka).", choices=("on_sensor", "on_environment"))
    sensor_frame: str = setting(
        "", "Frame of the wrench; empty: the frame_id of the messages.")
    sensor: str = setting(
        "unknown", "Sensor whose data sheet gives noise, accuracy, gain error, cross-talk, drift "
        "and range where they are not set themselves (settings.md has the values); ideal: nothing "
        "but white noise and a constant bias.", choices=tuple(SENSORS))
    force_noise: float = setting(
        _UNKNOWN.noise[0], "Standard deviation of one force sample (data sheet); corrected from "
        "the residual.", unit="N", above=0.0, runtime=True)
    torque_noise: float = setting(
        _UNKNOWN.noise[1], "Standard deviation of one torque sample (data sheet); corrected from "
        "the residual.", unit="N m", above=0.0, runtime=True)
    force_bias_sd: float = setting(
        5.0, "Standard deviation of the force bias before any data.", unit="N", above=0.0,
        runtime=True)
    torque_bias_sd: float = setting(
        0.5, "Standard deviation of the torque bias before any data.", unit="N m", above=0.0,
        runtime=True)
    force_range: float = setting(
        _UNKNOWN.range[0], "Force at which a channel saturates; 0: unknown.", unit="N", low=0.0)
    torque_range: float = setting(
        _UNKNOWN.range[1], "Torque at which a channel saturates; 0: unknown.", unit="N m", low=0.0)
    force_accuracy: float = setting(
        _UNKNOWN.accuracy[0], "What one force channel may be wrong by beside noise, bias, gain and "
        "cross-talk (non-linearity, hysteresis; one standard deviation).", unit="N", low=0.0,
        runtime=True)
    torque_accuracy: float = setting(
        _UNKNOWN.accuracy[1], "The same for one torque channel.", unit="N m", low=0.0,
        runtime=True)
    gain_error: float = setting(
        _UNKNOWN.gain_error, "Error of the gain of each channel, relative to its reading (one "
        "standard deviation).", low=0.0, high=0.5, runtime=True)
    cross_talk: float = setting(
        _UNKNOWN.cross_talk, "What a channel reads of each other one (one standard deviation), "
        "both relative to their ranges.", low=0.0, high=0.5, runtime=True)
    force_drift: float = setting(
        _UNKNOWN.drift[0], "How far the force bias wanders in a minute (one standard deviation).",
        unit="N/min", low=0.0, runtime=True)
    torque_drift: float = setting(
        _UNKNOWN.drift[1], "How far the torque bias wanders in a minute (one standard deviation).",
        unit="N m/min", low=0.0, runtime=True)

    @property
    def sign(self) -> float:
        """Sign of the reading against the wrench on the payload, ``A phi``."""
        return -1.0 if self.convention == "on_sensor" else 1.0


@dataclass(frozen=True)
class TareSettings:
    """What a tare is worth when it is no longer new."""

    force_drift: float = setting(
        _HOUR * _UNKNOWN.drift[0], "How far the force bias may have moved an hour after a tare "
        "(one standard deviation); grows with the square root of the tare's age, up to "
        "wrench.force_bias_sd.", unit="N", low=0.0, runtime=True)
    torque_drift: float = setting(
        _HOUR * _UNKNOWN.drift[1], "The same for the torque bias.", unit="N m", low=0.0,
        runtime=True)


@dataclass(frozen=True)
class LoadSettings:
    """Where the load of the payload is measured: in a wrist sensor, or in the joints."""

    source: str = setting(
        "wrench", "wrench: a sensor in the wrist. joint_torque: the efforts of the joint states, "
        "which must be torques (Franka, KUKA iiwa; not the motor currents of UR), relative to the "
        "robot without payload that load.robot holds; wrench.sensor_frame is then the link in "
        "which the payload is given.", choices=("wrench", "joint_torque"))
    robot: str = setting("", "Robot file of identify_robot, for joint_torque.")
    friction_drift: float = setting(
        0.05, "What the friction of a joint may have changed since the robot was identified, "
        "relative to it (one standard deviation).", low=0.0, high=1.0)
    rated_payload: float = setting(
        0.0, "Payload for which the robot is made; much more than that makes the units of the "
        "wrench suspect. 0: not known.", unit="kg", low=0.0)


@dataclass(frozen=True)
class JointStatesSettings:
    topic: str = setting("joint_states", "Joint state topic (sensor_msgs/JointState).")


@dataclass(frozen=True)
class DynamicJointStatesSettings:
    """Wrench and joints in one message; needs wrench.sensor_frame, which that does not carry."""

    topic: str = setting(
        "", "Topic with wrench and joint states (control_msgs/DynamicJointState), used in place of "
        "wrench.topic and joint_states.topic; empty: those two.")
    sensor: str = setting("tcp_fts_sensor", "Name of the force-torque sensor in it.")
    payload: str = setting("payload", "Name of the driver's payload in it.")


@dataclass(frozen=True)
class RobotDescriptionSettings:
    topic: str = setting("robot_description", "URDF topic (std_msgs/String, transient local).")
    file: str = setting("", "URDF file to use in place of the topic; empty: the topic.")


@dataclass(frozen=True)
class TfSettings:
    topic: str = setting("/tf", "Transforms (tf2_msgs/TFMessage).")
    static_topic: str = setting("/tf_static", "Static transforms (transient local).")


@dataclass(frozen=True)
class GravitySettings:
    frame: str = setting(
        "", "Frame whose z axis points up; empty: the root of the robot (with the fixed transforms "
        "above it), or of TF.")
    acceleration: float = setting(9.81, "Gravity.", unit="m/s^2", low=0.1, high=30.0)


@dataclass(frozen=True)
class KinematicsSettings:
    source: str = setting(
        "auto", "Motion of the sensor from joint_states with the URDF, or from tf alone; auto: "
        "joint_states where a robot description is there.",
        choices=("auto", "joint_states", "tf"))
    window: float = setting(
        0.15, "Length of the local quartic through joint positions; longer by itself for slow "
        "topics.", unit="s", low=0.02, high=1.0)
    filter_window: float = setting(
        0.4, "Length of the Hann low-pass on both wrench and regressor.", unit="s",
        low=0.02, high=2.0)
    max_gap: float = setting(
        0.5, "A longer gap in the wrench starts a new filter segment.", unit="s", low=0.02,
        high=5.0)


@dataclass(frozen=True)
class AccelerationsSettings:
    """Noise of measured motion: for recordings of accelerations, and for the estimator rtls."""

    linear_noise: float = setting(
        0.05, "Standard deviation of one sample of linear acceleration; 0: exact.", unit="m/s^2",
        low=0.0)
    angular_noise: float = setting(
        0.5, "Standard deviation of one sample of angular acceleration; 0: exact.",
        unit="rad/s^2", low=0.0)
    angular_velocity_noise: float = setting(
        0.005, "Standard deviation of one sample of angular velocity, where the angular "
        "acceleration is its derivative; 0: exact.", unit="rad/s", low=0.0)


@dataclass(frozen=True)
class BufferSettings:
    window: float = setting(30.0, "Length of the rolling buffer.", unit="s", low=0.5, high=3600.0)
    slice: float = setting(
        0.25, "Length of the slices by which the buffer forgets; at least window / 512.",
        unit="s", low=0.05, high=5.0)


@dataclass(frozen=True)
class AlignmentSettings:
    """Small errors of the set-up that are estimated with the payload; 0 switches a group off."""

    rotation_sd: float = setting(
        0.5, "Standard deviation of the sensor's rotation against its frame, about each axis; "
        "0: taken as exact.", unit="deg", low=0.0, high=10.0)
    tilt_sd: float = setting(
        0.25, "Standard deviation of the tilt of gravity against its frame, about x and y; "
        "0: taken as exact.", unit="deg", low=0.0, high=10.0)
    orientation_sd: float = setting(
        0.4, "Standard deviation of what the robot description gets wrong in the orientation of "
        "the sensor's frame, about each axis (calibration of the arm), which no data tell; it "
        "widens the intervals. 0: exact.", unit="deg", low=0.0, high=10.0)
    position_sd: float = setting(
        0.0, "Standard deviation of the position of the sensor's origin in its frame, along each "
        "axis: a few millimetres where no drawing tells it; 0: taken as exact.", unit="m", low=0.0,
        high=0.1)
    delay_sd: float = setting(
        0.05, "Standard deviation of the offset between the clocks of wrench and motion; "
        "0: taken as exact.", unit="s", low=0.0, high=0.2)


@dataclass(frozen=True)
class EstimatorSettings:
    method: str = setting(
        "density", "Estimator (see methods.md).", choices=ESTIMATORS, runtime=True)
    weighting: str = setting(
        "noise", "noise: full model, whitened by the sensor noise; dynamism: blend of the full and "
        "the gravity-only model, for entropic, lmi, manifold, pmd, uniform and wls, without "
        "alignment states.", choices=("noise", "dynamism"), runtime=True)
    rate: float = setting(
        2.0, "Estimates a second.", unit="Hz", low=0.01, high=100.0, runtime=True)
    dynamism_c1: float = setting(
        300.0, "Dynamism at which the full model has 99.5 % of the weight.", above=0.0,
        runtime=True)
    estimate_bias: bool = setting(
        True, "Estimate the six sensor biases with the payload.", runtime=True)
    estimate_noise: bool = setting(
        True, "Correct the data-sheet noise from the residual.", runtime=True)
    min_duration: float = setting(
        0.5, "Seconds of data before the first estimate.", unit="s", low=0.0, high=60.0,
        runtime=True)
    max_mass: float = setting(
        0.0, "Largest mass the payload can have, for density, lmi and manifold; 0: no bound.",
        unit="kg", low=0.0, runtime=True)


@dataclass(frozen=True)
class PmdSettings:
    form: str = setting(
        "norm", "norm: Euclidean norms as published; squared: a quadratic program.",
        choices=("norm", "squared"), runtime=True)
    regularization: float = setting(
        0.1, "Weight of the norm of the point masses.", low=0.0, runtime=True)
    whiten: bool = setting(
        True, "Weigh torque against force by the sensor noise; false: N and N m as published.",
        runtime=True)
    points: int = setting(
        136, "Point masses to spread over the shape.", low=4, high=1000, runtime=True)


@dataclass(frozen=True)
class LmiSettings:
    support: str = setting(
        "none", "Region of the shape that must hold the mass: none; box: centre of mass in the "
        "bounding box; ellipsoid: density realisable on the bounding ellipsoid.",
        choices=("none", "box", "ellipsoid"), runtime=True)
    epsilon: float = setting(
        1e-6, "Smallest eigenvalue of the pseudo-inertia, relative to its scale.",
        low=1e-9, high=1e-2, runtime=True)


@dataclass(frozen=True)
class ManifoldSettings:
    """Its margin is ``lmi.epsilon``."""

    max_iterations: int = setting(
        100, "Steps after which the best body so far is the answer.", low=1, high=10000,
        runtime=True)
    deadline: float = setting(
        0.0, "Time after which the best body so far is the answer; 0: none.", unit="s", low=0.0,
        high=10.0, runtime=True)


@dataclass(frozen=True)
class EntropicSettings:
    gamma: float = setting(
        8.0, "Weight of the prior, about one over the square of the relative difference expected "
        "between the body and the evenly filled shape; with selection by evidence it bounds the "
        "confidence that the prior adds.", low=1e-3, high=1e6, runtime=True)
    selection: str = setting(
        "evidence", "evidence: the data choose the weight; fixed: gamma as given.",
        choices=("fixed", "evidence"), runtime=True)


@dataclass(frozen=True)
class PrecompensatedSettings:
    """Payload whose effect the driver has already removed from the wrench; the estimate is the sum
    of it and of what is measured."""

    source: str = setting(
        "settings", "Where it comes from. settings: mass, com and inertia below; none: there is "
        "none, since the wrench is not of the robot's driver; inertia: a topic with "
        "geometry_msgs/InertiaStamped; franka: inertia_load of franka_msgs/FrankaRobotState; "
        "dynamic_joint_states: control_msgs/DynamicJointState. When it changes, all data before "
        "are forgotten.",
        choices=("settings", "none", "inertia", "franka", "dynamic_joint_states"))
    topic: str = setting(
        "", "Topic of the sources inertia and franka; and of dynamic_joint_states, where wrench "
        "and joints are not read from there, too.")
    terms: str = setting(
        "auto", "What of the payload the driver removes. all: its weight and inertial forces; "
        "weight: its weight only; auto: all, until the motion tells otherwise.",
        choices=("auto", "all", "weight"), runtime=True)
    frame: str = setting(
        "", "Frame of the payload that the driver reports; empty: that of its messages, or the "
        "sensor's.")
    program_topic: str = setting(
        "", "Topic (std_msgs/Bool) that turns true when the robot's program starts, which makes "
        "drivers zero the sensor: data and bias are then forgotten. Empty: none.")
    mass: float = setting(
        0.0, "Mass of the payload that the driver already removes from the wrench; 0: none.",
        unit="kg", low=0.0, runtime=True)
    com: Vector = setting(
        (0.0, 0.0, 0.0), "Its centre of mass in the sensor frame.", unit="m", lengths=(3,),
        runtime=True)
    inertia: Vector = setting(
        (0.0,) * 6, "Its inertia about the centre of mass, sensor axes: xx, xy, xz, yy, yz, zz.",
        unit="kg m^2", lengths=(6,), runtime=True)


@dataclass(frozen=True)
class ShapeSettings:
    type: str = setting(
        "none", "Shape of the object in the sensor frame.",
        choices=("none", "box", "cylinder", "sphere", "mesh"))
    size: Vector = setting(
        (), "Box: lengths x, y, z. Cylinder: radius, height (along z). Sphere: radius.", unit="m",
        above=0.0, lengths=(0, 1, 2, 3))
    center: Vector = setting((0.0, 0.0, 0.0), "Centre, or origin of the mesh.", unit="m",
                              lengths=(3,))
    rpy: Vector = setting((0.0, 0.0, 0.0), "Roll, pitch, yaw.", unit="rad", lengths=(3,))
    mesh: str = setting("", "Mesh file, or file:// or package:// resource; of points without "
                        "triangles (PLY, XYZ, NPY) the convex hull is taken.")
    mesh_scale: float = setting(1.0, "Metres per unit of the mesh file.", unit="m", above=0.0)
    position_sd: float = setting(
        0.01, "How wrong the shape may be: standard deviation of its position along each axis. The "
        "estimate then follows data that contradict it, and intervals hold as well; 0 here and in "
        "the next two: exact.", unit="m", low=0.0, high=0.5)
    rotation_sd: float = setting(
        5.0, "The same of its rotation about each axis through the middle of its bounding box.",
        unit="deg", low=0.0, high=45.0)
    scale_sd: float = setting(
        0.2, "The same of its size along each of its axes, as a share of it.", low=0.0, high=1.0)
    bounding: bool = setting(
        True, "The shape only bounds the object; false: the object fills it.")
    max_reach: float = setting(
        0.5, "Farthest that an object of unknown shape (type none) reaches from the sensor frame's "
        "origin; for density.", unit="m", low=0.01, high=5.0)


@dataclass(frozen=True)
class ToolSettings:
    file: str = setting(
        "", "Tool file; the object is then estimated apart from this tool. Empty: none.")


@dataclass(frozen=True)
class StateSettings:
    directory: str = setting(
        "~/.ros/inertial_id_ros", "The only folder in which files are written: estimates and tools "
        "that services save, and the state that outlives a run.")
    restore: bool = setting(
        True, "Begin with the tool, the bias and the estimate that an earlier run kept in "
        "state.directory.")


@dataclass(frozen=True)
class ResourcesSettings:
    folders: str = setting(
        "", "Folders, separated by ':', from which services may name file:// meshes, beside "
        "state.directory; package:// is always allowed.")


@dataclass(frozen=True)
class Settings:
    """All settings, one group a field; immutable, checked on construction.

    Raises:
        InvalidSetting: a value is outside its range; the text names it.
    """

    wrench: WrenchSettings = field(default_factory=WrenchSettings)
    tare: TareSettings = field(default_factory=TareSettings)
    load: LoadSettings = field(default_factory=LoadSettings)
    joint_states: JointStatesSettings = field(default_factory=JointStatesSettings)
    dynamic_joint_states: DynamicJointStatesSettings = field(
        default_factory=DynamicJointStatesSettings)
    robot_description: RobotDescriptionSettings = field(default_factory=RobotDescriptionSettings)
    tf: TfSettings = field(default_factory=TfSettings)
    gravity: GravitySettings = field(default_factory=GravitySettings)
    kinematics: KinematicsSettings = field(default_factory=KinematicsSettings)
    accelerations: AccelerationsSettings = field(default_factory=AccelerationsSettings)
    buffer: BufferSettings = field(default_factory=BufferSettings)
    contact: ContactSettings = field(default_factory=ContactSettings)
    change: ChangeSettings = field(default_factory=ChangeSettings)
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings)
    estimator: EstimatorSettings = field(default_factory=EstimatorSettings)
    pmd: PmdSettings = field(default_factory=PmdSettings)
    lmi: LmiSettings = field(default_factory=LmiSettings)
    manifold: ManifoldSettings = field(default_factory=ManifoldSettings)
    entropic: EntropicSettings = field(default_factory=EntropicSettings)
    precompensated: PrecompensatedSettings = field(default_factory=PrecompensatedSettings)
    shape: ShapeSettings = field(default_factory=ShapeSettings)
    tool: ToolSettings = field(default_factory=ToolSettings)
    state: StateSettings = field(default_factory=StateSettings)
    resources: ResourcesSettings = field(default_factory=ResourcesSettings)

    def __post_init__(self) -> None:
        for name, value, spec in iter_settings(self):
            check(name, value, spec)
        if self.contact.leave > self.contact.enter:
            raise InvalidSetting(f"contact.leave is {self.contact.leave:g}; allowed: up to "
                                 f"contact.enter, which is {self.contact.enter:g}")
        if self.dynamic_joint_states.topic and not self.wrench.sensor_frame:
            raise InvalidSetting(
                f"dynamic_joint_states.topic is '{self.dynamic_joint_states.topic}', which does "
                "not tell the frame of the wrench; set wrench.sensor_frame")
        if self.load.source == "joint_torque":
            for name, value in (("load.robot", self.load.robot),
                                ("wrench.sensor_frame", self.wrench.sensor_frame)):
                if not value:
                    raise InvalidSetting(f"{name} is empty; load.source 'joint_torque' needs it")
            if self.dynamic_joint_states.topic:
                raise InvalidSetting(
                    f"dynamic_joint_states.topic is '{self.dynamic_joint_states.topic}'; "
                    "load.source 'joint_torque' reads efforts from joint_states.topic, so leave it "
                    "empty")

    def replace(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with dotted names changed, e.g. ``{"wrench.topic": "/ft"}``; values are coerced.

        Another ``wrench.sensor`` also changes what its data sheet gives, but for names in changes.

        Raises:
            InvalidSetting: unknown name, wrong type, or value outside its range.
        """
        known = {name: value for name, value, _ in iter_settings(self)}
        sensor = changes.get("wrench.sensor", self.wrench.sensor)
        if sensor != self.wrench.sensor and isinstance(sensor, str) and sensor in SENSORS:
            changes = SENSORS[sensor].defaults() | dict(changes)
        groups: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            if name not in known:
                raise unknown_setting(name, known)
            group, key = name.split(".")
            groups.setdefault(group, {})[key] = coerce(name, value, known[name])
        return dataclasses.replace(self, **{
            group: dataclasses.replace(getattr(self, group), **values)
            for group, values in groups.items()})


def iter_settings(settings: Settings) -> Iterator[tuple[str, Any, Spec]]:
    """Dotted name, value and spec of every setting, in order."""
    for group in dataclasses.fields(settings):
        yield from iter_group(getattr(settings, group.name), f"{group.name}.")


def settings_from_mapping(tree: Mapping[str, Any]) -> Settings:
    """Settings from a nested or dotted mapping (as YAML gives it); missing names keep defaults.

    Raises:
        InvalidSetting: unknown name, wrong type, or value outside its range.
    """
    return Settings().replace(flatten(tree))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted names from a nested mapping; opens ``/**: ros__parameters`` of ROS files.

    Raises:
        InvalidSetting: a name that is not text.
    """
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if not isinstance(key, str):
            raise InvalidSetting(f"setting names must be text, got {str(key)[:200]}")
        if isinstance(value, Mapping):
            inside = prefix if _is_ros_wrapper(key, value) else f"{prefix}{key}."
            out.update(flatten(value, inside))
        else:
            out[f"{prefix}{key}"] = value
    return out


def _is_ros_wrapper(key: str, value: Mapping[str, Any]) -> bool:
    """Whether a key is ``ros__parameters``, or a node or namespace above one."""
    return key == "ros__parameters" or any(
        k == "ros__parameters" or (isinstance(v, Mapping) and _is_ros_wrapper("", v))
        for k, v in value.items())
