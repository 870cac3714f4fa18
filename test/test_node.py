"""The node as a process: what another process reads from it, and how it bears trouble."""

import json
import math
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import InertiaStamped, Point, WrenchStamped  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters  # noqa: E402
from ros_process import (  # noqa: E402
    LATCHED,
    Client,
    Robot,
    RosProcess,
    Stage,
    own_domain,
    wait_until,
    wrench_message,
)
from ros_process import NODE as COMMAND  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from shape_msgs.msg import MeshTriangle, SolidPrimitive  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import GetInertialParameters, Save, SetShape  # noqa: E402

NODE = "/inertial_id_node"
PARAMETERS = f"{NODE}/inertial_parameters"


def tensor(inertia):
    """(3, 3) about the centre of mass."""
    i = inertia
    return np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])


def com(inertia):
    return np.array([inertia.com.x, inertia.com.y, inertia.com.z])


def is_physical(inertia):
    """Positive mass, and principal moments that obey the triangle inequalities."""
    a, b, c = np.linalg.eigvalsh(tensor(inertia))
    return inertia.m > 0.0 and a > 0.0 and a + b > c


def all_numbers_nan(m):
    numbers = [m.inertia.m, *com(m.inertia), *tensor(m.inertia).ravel(), *m.covariance,
               *m.data_share, m.bias.force.x, m.bias.torque.z, *m.residual_rms, m.window,
               m.condition_number, m.min_eigenvalue]
    return all(math.isnan(x) for x in numbers) and m.samples == 0


def latest_valid(stage, after=0):
    """The newest valid estimate that arrives, of at least `after` messages more."""
    got = stage.client.listen(InertialParameters, PARAMETERS)
    count = len(got) + after
    stage.client.spin_until(lambda: len(got) >= max(count, 1) and got[-1].valid)
    return got[-1]


def findings(stage):
    """Names and texts of all findings that diagnostics carry now."""
    got = stage.client.listen(DiagnosticArray, "/diagnostics", 10)
    before = len(got)
    stage.client.spin_until(lambda: len(got) > before)
    return {v.key: v.value for status in got[-1].status for v in status.values}


def get(stage, frame=""):
    return stage.client.call(GetInertialParameters, f"{NODE}/get_inertial_parameters",
                             GetInertialParameters.Request(target_frame=frame))


def set_parameter(stage, name, value):
    kind = {bool: "bool", int: "integer", float: "double", str: "string"}[type(value)]
    number = {"bool": 1, "integer": 2, "double": 3, "string": 4}[kind]
    message = Parameter(name=name, value=ParameterValue(type=number, **{f"{kind}_value": value}))
    return stage.client.call(SetParameters, f"{NODE}/set_parameters",
                             SetParameters.Request(parameters=[message])).results[0]


def query(stage, *names):
    values = stage.client.call(GetParameters, f"{NODE}/get_parameters",
                               GetParameters.Request(names=list(names))).values
    return values


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A node that has identified the hammer of a robot that now stands still."""
    folder = tmp_path_factory.mktemp("state")
    with Stage() as stage:
        stage.node = stage.start_node(estimator__rate=4.0, state__directory=str(folder))
        stage.folder = folder
        stage.robot = Robot(stage.client)
        stage.robot.introduce()
        stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated", 1000)
        stage.robot.play(2.0)
        latest_valid(stage)  # compensated wrenches flow from the first estimate on
        stage.robot.play(6.0)
        stage.client.spin_until(lambda: latest_valid(stage, 1).stale)
        yield stage


def test_a_late_joiner_gets_the_last_estimate_and_it_is_the_truth(identified):
    late = Client(identified.domain)
    try:
        got = late.listen(InertialParameters, PARAMETERS)
        late.spin_until(lambda: got)
    finally:
        late.close()
    message = got[0]
    assert message.valid
    truth = identified.robot.cobot.payload
    assert is_physical(message.inertia)
    assert message.inertia.m == pytest.approx(truth.mass, rel=0.01)
    np.testing.assert_allclose(com(message.inertia), truth.com, atol=2e-3)
    size = np.abs(truth.inertia_com).max()
    np.testing.assert_allclose(tensor(message.inertia), truth.inertia_com, atol=0.3 * size)
    covariance = message.covariance.reshape(10, 10)
    np.testing.assert_allclose(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance)[0] >= -1e-12
    assert message.header.frame_id == "ft_sensor" and message.samples > 500
    assert "density" in message.status and message.solve_time.sec == 0


def test_the_plain_inertia_topic_carries_the_same_numbers(identified):
    plain = identified.client.listen(InertiaStamped, f"{NODE}/inertia", 10)
    identified.client.spin_until(lambda: plain)
    message = latest_valid(identified, 1)
    assert plain[-1].inertia == message.inertia
    assert plain[-1].header == message.header


def test_the_service_gives_the_same_as_the_topic(identified):
    response, message = get(identified), latest_valid(identified)
    assert response.success
    assert response.parameters.inertia == message.inertia
    np.testing.assert_array_equal(response.parameters.covariance, message.covariance)


def test_the_service_gives_the_estimate_in_another_frame(identified):
    here, there = get(identified).parameters, get(identified, "base_link")
    assert there.success and there.parameters.header.frame_id == "base_link"
    moved = there.parameters.inertia
    # Pose of the sensor at the last sample, from the simulation (its base is not tilted).
    rotation, origin = identified.robot.truth.rotation[-1], identified.robot.truth.position[-1]
    assert moved.m == here.inertia.m
    np.testing.assert_allclose(com(moved), rotation @ com(here.inertia) + origin, atol=1e-3)
    np.testing.assert_allclose(tensor(moved), rotation @ tensor(here.inertia) @ rotation.T,
                               atol=1e-3 * np.abs(tensor(here.inertia)).max() + 1e-6)
    before = here.covariance.reshape(10, 10)[1:4, 1:4]
    after = there.parameters.covariance.reshape(10, 10)[1:4, 1:4]
    np.testing.assert_allclose(after, rotation @ before @ rotation.T,
                               atol=1e-2 * np.abs(before).max())
    assert there.parameters.bias == here.bias
    assert is_physical(moved) and there.parameters.valid


def test_an_unknown_frame_is_named_and_no_numbers_are_given(identified):
    response = get(identified, "nowhere")
    assert not response.success and "nowhere" in response.message
    assert not response.parameters.valid and all_numbers_nan(response.parameters)


def test_parameter_queries_give_the_same_as_the_topic(identified):
    message = latest_valid(identified)
    mass, centre, inertia, sigma, valid, frame, stamp = query(
        identified, *(f"payload.{n}" for n in (
            "mass", "com", "inertia", "sigma", "valid", "frame_id", "stamp")))
    i = message.inertia
    assert mass.double_value == i.m and valid.bool_value and frame.string_value == "ft_sensor"
    assert list(centre.double_array_value) == com(i).tolist()
    assert list(inertia.double_array_value) == [i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz]
    np.testing.assert_allclose(np.square(sigma.double_array_value),
                               np.diag(message.covariance.reshape(10, 10)), rtol=1e-9)
    assert stamp.integer_value == (
        message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec)


def test_nobody_but_the_node_writes_the_payload_parameters(identified):
    result = set_parameter(identified, "payload.mass", 3.0)
    assert not result.successful and "payload.mass" in result.reason
    assert query(identified, "payload.mass")[0].double_value != 3.0
    described = identified.client.call(
        DescribeParameters, f"{NODE}/describe_parameters",
        DescribeParameters.Request(names=["payload.mass"])).descriptors[0]
    assert described.read_only and "kg" in described.description


@pytest.mark.parametrize(("name", "value", "said"), [
    ("estimator.rate", 500.0, "estimator.rate is 500 Hz; allowed: at least 0.01"),
    ("estimator.rate", "fast", "estimator.rate is 'fast'; it must be a number"),
    ("estimator.method", "magic", "estimator.method is 'magic'; allowed: "),
    ("wrench.topic", "/ft", "wrench.topic can only be set when the node starts"),
    ("pmd.points", 2, "pmd.points is 2; allowed: at least 4"),
    ("estimator.method", "pmd", "'pmd' of these settings needs the shape of the object"),
])
def test_a_bad_value_while_running_is_refused_with_its_name(identified, name, value, said):
    before = query(identified, name)[0]
    result = set_parameter(identified, name, value)
    assert not result.successful and said in result.reason
    assert query(identified, name)[0] == before


def test_a_setting_changed_while_running_takes_effect(identified):
    assert set_parameter(identified, "estimator.method", "wls").successful
    got = identified.client.listen(InertialParameters, PARAMETERS)
    identified.client.spin_until(lambda: got and got[-1].method == "wls")
    assert set_parameter(identified, "estimator.method", "lmi").successful
    identified.client.spin_until(lambda: got[-1].method == "lmi")
    assert set_parameter(identified, "estimator.rate", 8).successful  # an int for a double
    assert query(identified, "estimator.rate")[0].double_value == 8.0


def test_saving_writes_the_last_estimate(identified):
    response = identified.client.call(Save, f"{NODE}/save", Save.Request(name="hammer.json"))
    assert response.success, response.message
    assert response.path == str(identified.folder / "hammer.json")
    report = json.loads((identified.folder / "hammer.json").read_text())
    message = latest_valid(identified)
    assert report["mass"] == message.inertia.m and report["com"] == com(message.inertia).tolist()
    names = sorted(p.name for p in identified.folder.iterdir())
    assert names == ["hammer.json", "inertial_id_node.state.json"]  # nothing half-written


@pytest.mark.parametrize("name", ["../x.json", "/tmp/x.json", "a/b", "..", ".hidden", "a\nb"])
def test_saving_refuses_what_is_no_plain_file_name(identified, name):
    response = identified.client.call(Save, f"{NODE}/save", Save.Request(name=name))
    assert not response.success and "plain file name" in response.message and not response.path


def shape(stage, **fields):
    return stage.client.call(SetShape, f"{NODE}/set_shape", SetShape.Request(**fields))


def box(x, y, z):
    return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[x, y, z])


def test_an_open_mesh_is_refused_in_words(identified):
    request = SetShape.Request()
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    request.mesh.vertices = [Point(x=x, y=y, z=z) for x, y, z in corners]
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2)):  # the fourth face is missing
        request.mesh.triangles.append(
            MeshTriangle(vertex_indices=np.array(face, dtype=np.uint32)))
    response = identified.client.call(SetShape, f"{NODE}/set_shape", request)
    assert not response.success and "watertight" in response.message
    request.mesh.triangles.append(
        MeshTriangle(vertex_indices=np.array((1, 2, 3), dtype=np.uint32)))
    response = identified.client.call(SetShape, f"{NODE}/set_shape", request)
    assert response.success and "1.667e+05 cm^3" in response.message


@pytest.mark.parametrize(("fields", "said"), [
    ({"primitive": box(0.1, 0.1, -0.1)}, "positive sizes"),
    ({"primitive": SolidPrimitive(type=5, dimensions=[1.0])}, "primitive.type is 5"),
    ({"primitive": box(0.1, 0.1, 0.1), "mesh_resource": "file:///x.stl"}, "exactly one"),
    ({"mesh_resource": "file:///nowhere/x.stl"}, "resources.folders"),
    ({"mesh_resource": "/etc/passwd"}, "allowed: file, package"),
    ({"mesh_resource": "package://../../etc/passwd"}, "not found"),
    ({"mesh_resource": "package://no_such_package/x.stl"}, "not found"),
    ({"mesh_resource": "http://x/x.stl"}, "allowed: file, package"),
    ({"primitive": box(0.1, 0.1, 0.1), "frame_id": "nowhere"}, "nowhere"),
    ({"points": [Point()] * 3}, "four"),
])
def test_a_bad_shape_is_refused_in_words(identified, fields, said):
    response = shape(identified, **fields)
    assert not response.success and said in response.message


def test_a_shape_is_placed_by_its_frame(identified):
    request = SetShape.Request(frame_id="base_link", primitive=box(0.1, 0.2, 0.3), bounding=True)
    turn = identified.robot.truth.rotation[-1]
    p = request.pose.position
    p.x, p.y, p.z = identified.robot.truth.position[-1].tolist()
    response = identified.client.call(SetShape, f"{NODE}/set_shape", request)
    assert response.success
    lengths = np.abs(turn.T) @ [0.1, 0.2, 0.3]  # bounding box along the sensor's axes
    said = response.message.split("bounding box ")[1].split(" m")[0].split(" x ")
    np.testing.assert_allclose([float(x) for x in said], lengths, atol=2e-3)
    assert shape(identified).message == "the shape is forgotten"


def test_markers_show_a_box_with_the_inertia_of_the_payload(identified):
    got = identified.client.listen(MarkerArray, f"{NODE}/markers")
    identified.client.spin_until(lambda: got)
    ball, cuboid = got[-1].markers
    inertia = latest_valid(identified).inertia
    x, y, z = cuboid.scale.x, cuboid.scale.y, cuboid.scale.z
    moments = inertia.m / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    np.testing.assert_allclose(np.sort(moments), np.linalg.eigvalsh(tensor(inertia)), rtol=1e-6)
    assert (ball.pose.position.x, ball.pose.position.z) == (inertia.com.x, inertia.com.z)
    assert cuboid.header.frame_id == "ft_sensor"


def test_the_compensated_wrench_is_free_of_the_payload(identified):
    got = identified.client.received[f"{NODE}/wrench_compensated"]
    identified.client.spin_until(lambda: len(got) > 300)
    forces = np.array([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z] for m in got[200:]])
    weight = 9.81 * identified.robot.cobot.payload.mass
    assert np.sqrt((forces**2).mean()) < 0.02 * weight
    assert got[-1].header.frame_id == "ft_sensor"


def test_diagnostics_tell_rates_and_counts(identified):
    said = findings(identified)
    assert int(said["wrench [messages]"]) > 1500 and int(said["robot_description [messages]"]) == 1
    assert said["valid"] == "true" and float(said["solve time [s]"]) > 0.0
    assert "skipped ticks" in said and "wrench [Hz]" in said and "buffer length [s]" in said


def test_diagnostics_warn_when_the_sensor_is_silent(identified):
    got = identified.client.listen(DiagnosticArray, "/diagnostics", 10)

    def level():
        return next((s.level for m in got[-1:] for s in m.status if s.name.endswith("inputs")), b"")

    identified.client.spin_until(lambda: level() == DiagnosticStatus.WARN)
    identified.robot.play(0.5)
    identified.client.spin_until(lambda: level() == DiagnosticStatus.OK)


def test_reset_forgets_the_estimate_until_new_data_come():
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.introduce()
        robot.play(3.0)
        first = latest_valid(stage)
        assert stage.client.call(Trigger, f"{NODE}/reset").success
        got = stage.client.listen(InertialParameters, PARAMETERS)
        stage.client.spin_until(lambda: not got[-1].valid)
        assert all_numbers_nan(got[-1]) and got[-1].status
        refused = get(stage)
        assert not refused.success and refused.message and all_numbers_nan(refused.parameters)
        assert not stage.client.call(Save, f"{NODE}/save").success
        plain = stage.client.listen(InertiaStamped, f"{NODE}/inertia", 10)
        count = len(got) + 3
        stage.client.spin_until(lambda: len(got) >= count)
        assert not plain  # nobody who joins now is given the forgotten payload
        wait_until(lambda: not query(stage, "payload.valid")[0].bool_value)
        assert math.isnan(query(stage, "payload.mass")[0].double_value)
        robot.play(3.0)
        again = latest_valid(stage)
        assert again.inertia.m == pytest.approx(first.inertia.m, rel=0.02)


def test_tare_takes_the_reading_at_rest_as_the_bias():
    bias = np.array([3.0, -2.0, 1.0, 0.1, 0.05, -0.02])
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client, bias=tuple(bias))
        early = stage.client.call(Trigger, f"{NODE}/tare")
        assert not early.success and "tare needs" in early.message
        robot.introduce()
        robot.play(1.5, wrench=bias, rest=True)
        response = stage.client.call(Trigger, f"{NODE}/tare")
        assert response.success and "3.000" in response.message
        robot.play(4.0)
        message = latest_valid(stage, 2)
        f, t = message.bias.force, message.bias.torque
        np.testing.assert_allclose([f.x, f.y, f.z], bias[:3], atol=0.1)
        np.testing.assert_allclose([t.x, t.y, t.z], bias[3:], atol=0.01)
        assert message.inertia.m == pytest.approx(robot.cobot.payload.mass, rel=0.02)


def test_bad_messages_are_named_and_nothing_wrong_is_published():
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot = Robot(stage.client)
        stage.client.publish("/robot_description", String(data="<robot name='x'><link"), LATCHED)
        nan = np.full(6, np.nan)
        robot.play(1.0, wrench=nan)
        wanted = {"robot_description_invalid", "wrench_not_finite", "joint_names_empty",
                  "wrench_stamp_missing"}

        def all_named():  # best effort: a single message may be lost on a busy machine
            stage.client.publish("/joint_states", JointState())
            stage.client.publish("/wrench", wrench_message(0, "ft_sensor", np.zeros(6)))
            return wanted <= findings(stage).keys()

        stage.client.spin_until(all_named)
        times = int(findings(stage)["wrench_not_finite"].split("(")[1].split(" times")[0])
        assert 20 < times <= 250
        assert got and all(not m.valid and all_numbers_nan(m) for m in got)
        assert node.text.count("NaN or infinity") <= 2  # not a line for each sample
        robot.introduce()
        robot.play(4.0)
        assert is_physical(latest_valid(stage).inertia)
        assert "robot_description_invalid" not in findings(stage)
        status, text = node.stop()
        assert status == 0 and "Traceback" not in text


def test_an_unknown_sensor_frame_is_named_and_nothing_is_published():
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot = Robot(stage.client)
        robot.introduce()
        robot.play(3.0, frame="gripper_of_another_robot")
        stage.client.spin_until(lambda: got and "gripper_of_another_robot" in got[-1].status)
        assert all(not m.valid and all_numbers_nan(m) for m in got)


def test_simulated_time_drives_the_estimates():
    with Stage() as stage:
        stage.start_node(estimator__rate=2.0, use_sim_time=True)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        stage.client.spin_until(lambda: "clock_silent" in findings(stage))
        assert not got  # the clock stands at zero
        robot = Robot(stage.client, start_ns=5_000_000_000)
        robot.introduce()
        ticks = []

        def tick(stamp):
            if not ticks or stamp - ticks[-1] > 20_000_000:
                ticks.append(stamp)
                clock = Clock()
                clock.clock.sec, clock.clock.nanosec = divmod(stamp, 1_000_000_000)
                stage.client.publish("/clock", clock, 10)

        robot.play(5.0, each=tick)
        stage.client.spin_until(lambda: got and got[-1].header.stamp.sec >= 8)
        assert got[-1].valid and got[-1].header.stamp.sec < 10
        assert 4 <= len(got) <= 12  # 2 Hz of simulated time
        assert "clock_silent" not in findings(stage)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_running_node_cleanly(number):
    with Stage() as stage:
        node = stage.start_node(estimator__rate=20.0)
        robot = Robot(stage.client)
        robot.introduce()
        robot.play(1.5)
        node.process.send_signal(number)
        time.sleep(0.02)
        node.process.send_signal(number)  # launch sends two
        started = time.monotonic()
        status, text = node.finish()
        assert status == 0 and "Traceback" not in text, text
        assert time.monotonic() - started < 3.0


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8])
def test_a_signal_at_startup_ends_the_node_cleanly(delay):
    for number in (signal.SIGINT, signal.SIGTERM):
        node = RosProcess(own_domain(), *COMMAND)
        node.wait_for_handlers()
        time.sleep(delay)
        status, text = node.stop(number)
        assert status == 0 and "Traceback" not in text, text
