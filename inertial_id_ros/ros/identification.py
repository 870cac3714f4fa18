"""Node ``inertial_id_node``: identifies online what the arm carries.

Three kinds of threads touch the Identifier: callbacks of the executor append samples, the worker
does all the rest, and services have the worker do what they need.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidTopicNameException, ParameterException
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from ..errors import InertialIdError, InvalidModel, InvalidSetting, InvalidShape
from ..estimate import Estimate, NoEstimate, Outcome
from ..findings import Finding
from ..identifier import Identifier
from ..settings import Settings
from ..shape import Shape, shape_from_settings
from . import compat
from .conversions import checked, stamp_ns
from .diagnostics import FindingLogger, NodeCounters, TopicRate, statuses
from .publishing import Publishing
from .services import Services
from .settings_node import SettingsNode
from .signals import ignore, stop_flag
from .worker import Worker

_HOUSEKEEPING = 0.05  # s: samples settle, so that compensated wrenches flow
_REPORT = 1.0  # s between diagnostics
_PATIENCE = 3.0  # s after the start before missing data, or a missing /clock, are worth a word
_FAREWELL = 2.0  # s that the last solve may take


def _stream(depth: int) -> QoSProfile:
    """Best effort matches reliable and best-effort publishers."""
    return QoSProfile(depth=depth, history=HistoryPolicy.KEEP_LAST,
                      reliability=ReliabilityPolicy.BEST_EFFORT)


def _latched(depth: int) -> QoSProfile:
    return QoSProfile(depth=depth, history=HistoryPolicy.KEEP_LAST,
                      reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)


class InertialIdNode(SettingsNode):
    """The identification node.

    Raises:
        InertialIdError: a setting is not allowed, or names a file that cannot be used.
    """

    def __init__(self) -> None:
        super().__init__("inertial_id_node")
        self.identifier = Identifier(self.settings, _shape(self.settings))
        self._own_findings: dict[str, Finding] = {}
        self._findings: tuple[Finding, ...] = ()
        self._outcome: Outcome = NoEstimate(0, "", "waiting for the first estimate")
        self._outbox: deque[Outcome] = deque(maxlen=1)
        self._report_due = True
        self._skipped, self._longest = 0, 0.0
        self._rates: dict[str, TopicRate] = {}
        self._started = time.monotonic()
        self.worker = Worker({"advance": self._advance, "solve": self._solve}, self._worker_failed)
        self._out = Publishing(self)
        self._logger_of_findings = FindingLogger(self._write_log)
        self._subscribe_all(self.settings)
        Services(self, self)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_HOUSEKEEPING, self._keep_house, clock=steady)
        self.create_timer(_REPORT, self._ask_report, clock=steady)
        self._timer = self._solve_timer(self.settings)
        self.worker.start()
        self.get_logger().info(
            f"{self.settings.estimator.method} at {self.settings.estimator.rate:g} Hz from "
            f"{self.resolve_topic_name(self.settings.wrench.topic)}")

    def stop(self) -> bool:
        """End the worker; False where it could not end in time."""
        return self.worker.stop(_FAREWELL)

    # ---- topics in: append only ----------------------------------------------------------------

    def _subscribe_all(self, settings: Settings) -> None:
        self._subscribe("wrench.topic", settings.wrench.topic, WrenchStamped, self._on_wrench,
                        _stream(2000))
        self._subscribe("joint_states.topic", settings.joint_states.topic, JointState,
                        self._on_joint_state, _stream(2000))
        self._subscribe("tf.topic", settings.tf.topic, TFMessage, self._on_transforms, _stream(500))
        self._subscribe("tf.static_topic", settings.tf.static_topic, TFMessage,
                        self._on_static_transforms, _latched(100))
        if settings.robot_description.file:
            self._use_file(settings.robot_description.file)
        else:
            self._subscribe("robot_description.topic", settings.robot_description.topic, String,
                            self._on_robot_description, _latched(1))

    def _use_file(self, name: str) -> None:
        try:
            self.identifier.set_robot_description(_read_urdf(name))
        except InvalidModel as error:
            raise InvalidSetting(f"robot_description.file is '{name}': {error}") from error

    def _subscribe(self, setting: str, topic: str, kind: type, callback: Callable[[Any], None],
                   qos: QoSProfile) -> None:
        rate = self._rates[setting.removesuffix(".topic")] = TopicRate()

        def count(message: Any) -> None:
            rate.count += 1
            callback(message)

        try:
            self.create_subscription(kind, topic, count, qos)
        except (InvalidTopicNameException, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InvalidSetting(f"{setting} is '{topic}'; it must be a topic name: "
                                 f"{reason}") from error

    def _on_wrench(self, message: WrenchStamped) -> None:
        header, force, torque = message.header, message.wrench.force, message.wrench.torque
        self.identifier.add_wrench(stamp_ns(header.stamp), header.frame_id,
                                   (force.x, force.y, force.z), (torque.x, torque.y, torque.z))

    def _on_joint_state(self, message: JointState) -> None:
        self.identifier.add_joint_state(
            stamp_ns(message.header.stamp), message.name, message.position)

    def _on_transforms(self, message: TFMessage) -> None:
        for t in message.transforms:
            p, q = t.transform.translation, t.transform.rotation
            self.identifier.add_transform(stamp_ns(t.header.stamp), t.header.frame_id,
                                          t.child_frame_id, (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))

    def _on_static_transforms(self, message: TFMessage) -> None:
        for t in message.transforms:
            p, q = t.transform.translation, t.transform.rotation
            self.identifier.add_static_transform(t.header.frame_id, t.child_frame_id,
                                                 (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))

    def _on_robot_description(self, message: String) -> None:
        self.worker.post(lambda: self._use_robot_description(message.data))

    # ---- timers: in the executor's thread ------------------------------------------------------

    def _solve_timer(self, settings: Settings) -> Any:
        return self.create_timer(1.0 / settings.estimator.rate, self._tick)

    def _tick(self) -> None:
        if not self.worker.ask("solve"):
            self._skipped += 1

    def _keep_house(self) -> None:
        self.worker.ask("advance")
        if self._outbox:
            self.write_payload(self._outbox.pop())
        if self._logger_of_findings.update(self._all_findings()):
            self._report_due = True
        if self._report_due:
            self._report_due = False
            self._report()

    def _ask_report(self) -> None:
        self._report_due = True

    def _report(self) -> None:
        now = time.monotonic()
        counters = NodeCounters(
            {name: rate.per_second(now) for name, rate in self._rates.items()},
            {name: rate.count for name, rate in self._rates.items()}, self._skipped, self._longest)
        self._check_clock(now)
        self._out.diagnostics(
            statuses(self.get_name(), self._all_findings(), self._outcome, counters))

    def _check_clock(self, now: float) -> None:
        if (self.get_parameter("use_sim_time").value and now - self._started > _PATIENCE
                and self.get_clock().now().nanoseconds == 0):
            self._set_finding("clock_silent", "use_sim_time is true and nothing arrives on /clock, "
                              "so no estimate is made")
        else:
            self._own_findings.pop("clock_silent", None)

    # ---- the worker ----------------------------------------------------------------------------

    def _advance(self) -> None:
        self._out.compensated(self.identifier.advance())
        self._findings = self.identifier.findings()

    def _solve(self) -> None:
        started = time.monotonic()
        self._advance()
        self.solve_now()
        self._longest = max(self._longest, time.monotonic() - started)
        self._own_findings.pop("internal_error", None)

    def solve_now(self) -> Outcome:
        """Solve and publish; in the worker."""
        outcome = checked(self.identifier.solve())
        self._findings = self.identifier.findings()
        self._publish(outcome)
        return outcome

    def _publish(self, outcome: Outcome) -> None:
        if isinstance(outcome, Estimate) != isinstance(self._outcome, Estimate):
            self._report_due = True
        if isinstance(outcome, Estimate):
            self._own_findings.pop("no_estimate", None)
        elif time.monotonic() - self._started > _PATIENCE:
            self._set_finding("no_estimate", f"no estimate: {outcome.reason}", "warning")
        self._outcome = outcome
        self._out.outcome(outcome)
        self._outbox.append(outcome)

    def _use_robot_description(self, urdf: str) -> None:
        try:
            self.identifier.set_robot_description(urdf)
            self._own_findings.pop("robot_description_invalid", None)
        except InertialIdError as error:
            self._set_finding("robot_description_invalid", str(error))

    def _worker_failed(self, routine: str, error: Exception) -> None:
        if self.worker.stopping:
            return
        self.get_logger().debug("".join(traceback.format_exception(error)))
        text = f"internal error in {routine}: {type(error).__name__}: {error}"
        self._set_finding("internal_error", text)
        self._publish(NoEstimate(self._outcome.stamp_ns, self._outcome.frame_id, text))

    # ---- findings ------------------------------------------------------------------------------

    def _all_findings(self) -> tuple[Finding, ...]:
        return (*tuple(self._own_findings.values()), *self._findings)

    def _set_finding(self, name: str, text: str, level: str = "error") -> None:
        self._own_findings[name] = Finding(name, level, text)

    def _write_log(self, level: str, text: str) -> None:
        # rclpy knows a call by its line and refuses another severity from the same line.
        if level == "error":
            self.get_logger().error(text)
        elif level == "warning":
            self.get_logger().warning(text)
        else:
            self.get_logger().info(text)

    # ---- what services and parameters ask ------------------------------------------------------

    @property
    def outcome(self) -> Outcome:
        """The last outcome."""
        return self._outcome

    @property
    def state_directory(self) -> str:
        """Folder that the save service writes under."""
        return self.settings.state.directory

    def check_settings(self, settings: Settings) -> None:
        """Refuse an estimator that could not answer, such as one that lacks its shape."""
        self.identifier.check_settings(settings)

    def on_settings(self, before: Settings, after: Settings) -> None:
        """Hand changed settings to the worker; another rate needs another timer."""
        self.worker.post(lambda: self.identifier.set_settings(after))
        if after.estimator.rate != before.estimator.rate:
            self.destroy_timer(self._timer)
            self._timer = self._solve_timer(after)


def _shape(settings: Settings) -> Shape | None:
    try:
        return shape_from_settings(settings.shape, compat.package_roots())
    except InvalidShape as error:
        raise InvalidSetting(f"shape.type is '{settings.shape.type}', but {error}") from error


def _read_urdf(name: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidSetting(f"robot_description.file is '{name}'; cannot read it: "
                             f"{reason}") from error


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit status (2: a bad setting)."""
    stop = stop_flag()
    arguments = sys.argv if arguments is None else ["inertial_id_node", *arguments]
    node, executor, ended = None, None, True
    try:
        _init(list(arguments))
        node = InertialIdNode()
        executor = compat.make_executor()
        executor.add_node(node)
        compat.spin(executor, stop)
    except (InertialIdError, ParameterException) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        if stop.is_set():
            ignore()
        if node is not None:
            ended = node.stop()
            node.destroy_node()
        compat.shutdown()
    if not ended:  # a solver that does not return must not keep the process
        compat.leave(0)
    return 0


def _init(arguments: list[str]) -> None:
    try:
        compat.init(arguments)
        rest = remove_ros_args(arguments)[1:]
    except Exception as error:  # rclpy has no public base class for bad ROS arguments
        raise InvalidSetting(f"ROS arguments: {' '.join(str(error).split())}") from error
    if rest:
        raise InvalidSetting(f"unknown argument '{rest[0]}'; settings are given as "
                             "--ros-args -p <name>:=<value>")
