# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is checked of a set-up at rest, in the order in which a person corrects what they find; and
what motions decide. A small one of the wrist: sign and units of the wrench, axes of the sensor,
direction of gravity and clocks, by the hypotheses of the identification itself. One that the
estimate has not seen: whether the payload predicts its wrench."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from ...estimate import CONFIDENCE_95
from ...explain.contradictions import contradictions
from ...explain.explain import CERTAIN, Explanation, explain
from ...explain.fit import ROUNDS, Prior, Region, fit
from ...kinds import KINDS, TILT, Finding, made
from ...model.history import Window
from ...model.rows import is_enough
from ...model.setup import sheet_of
from ...motion.motion import BIN
from ...samples.wrenches import CHANNELS
from ...settings import Settings
from ..report.results import LEAST, TIMES, Prediction, regressor_of, rms_lengths

LEAST_RATE = 50.0  # Hz; fewer samples do not give accelerations well
LATEST, EARLIEST = 0.5, -0.05  # s from a stamp to its arrival
NOISY = 3.0  # times the noise of the data sheet
SHIFTED = 0.002  # m, of a TCP
NEAR_RANGE = 0.9  # share of the range
REST_SPEED = 0.02  # rad/s of the sensor
PASSED, OPEN, FAILED = "ok", "open", "wrong"  # open: it could not be measured well enough
LEAST_TILT = 0.12  # spread of the direction of gravity
ASKEW, TURNED, VAGUE = 5.0, 8.0, 0.5  # deg, at most; deviation of an unknown turn [rad]
CLEAR = 5.0  # deviations of a mass from zero, from which on it shows anything
SIGN, FRAME, GRAVITY_ROW = "sign of the wrench", "axes of the sensor", "direction of gravity"
EXPECTED = {SIGN: "the sign that wrench.convention names",
            FRAME: f"the axes of its frame within {TURNED:g}°",
            GRAVITY_ROW: f"gravity within {ASKEW:g}° of the z axis of its frame",
            "clocks": "the force follows the motion at once"}
NAMES = {"sign_wrong": SIGN, "frame_wrong.gravity_elsewhere": GRAVITY_ROW,
         "wrong_units.wrench": "units of the wrench", "reference_contradicted": "payload mass",
         "payload_not_added": "payload set on the robot"}  # of others: axes of the sensor


class Row(NamedTuple):
    """One check."""

    check: str
    verdict: str  # PASSED, OPEN or FAILED
    measured: str  # in words, with units
    expected: str
    advice: str = ""  # what to do where it is wrong or open; empty: nothing


def failed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are wrong."""
    return tuple(row for row in rows if row.verdict == FAILED)


class Driver(NamedTuple):
    """What the robot's driver says of itself; None: nothing."""

    payload: float | None = None  # mass that is configured on the robot [kg]
    stopped: str | None = None  # why the robot may not move, in words; empty: it may
    speed: float | None = None  # share of the programmed speed at which it moves


class Snapshot(NamedTuple):
    """Everything that the checks at rest read."""

    seconds: float  # for which was listened
    wrench: np.ndarray  # readings (n, 6) [N, N m]
    joints: int  # number of joint states
    topics: dict[str, str]  # full names of both
    ages: Mapping[str, float] = {}  # median, from stamp to arrival [s]
    speed: float | None = None  # of the sensor [rad/s], root mean square
    chain: tuple[str, ...] = ()  # joints that move the frame of the wrench
    frame: str = ""  # of the wrench
    tcp: float = 0.0  # how far the TCP lies from it [m]
    missing: str = ""  # why the motion of the sensor is not known, in words; empty: it is
    findings: tuple[Finding, ...] = ()  # about the samples
    # Joints (empty: not known) of those that take trajectories, by their actions without ending.
    controllers: Mapping[str, tuple[str, ...]] = {}
    wrench_topics: tuple[str, ...] = ()  # on which wrenches come
    driver: Driver = Driver()

    @property
    def fitting(self) -> list[str]:
        """Names of the controllers that move all joints which move the sensor."""
        return [name for name, joints in self.controllers.items()
                if not joints or set(self.chain) <= set(joints)]


# A check: its name; true where it is wrong; what was measured, what is expected; the kind whose
# remedy it has; kinds and names of findings by which it is wrong, too.
Check = tuple[str, object, str, str, str, tuple[str, ...]]


def check_at_rest(seen: Snapshot, settings: Settings, may_move: bool = True) -> tuple[Row, ...]:
    """The rows of all checks at rest; may_move: True if a program is to move the arm."""
    rows = []
    for group in (_wrench, _motion, _drivers, _program)[:4 if may_move else 3]:
        for name, is_wrong, measured, expected, kind, kinds in group(seen, settings):
            finding = next((f for f in seen.findings
                            if {f.name, f.kind} & {*kinds} and f.level != "info"), None)
            if finding is not None and not is_wrong:
                is_wrong, measured, kind = True, finding.text, finding.kind
            rows.append(Row(name, FAILED, measured, expected, KINDS[kind].remedy) if is_wrong else
                        Row(name, PASSED, measured, expected))
    return tuple(rows)


def _rate(seen: Snapshot, name: str, count: int, topic: str, others: Sequence[str], *kinds: str
          ) -> Check:
    """A stream that is silent, or too slow, is wrong; others: topics of the same type."""
    rate, where = count / seen.seconds, f"; but on {listed(others)}" if others else ""
    return (name, rate < LEAST_RATE, f"{rate:.3g} Hz" if count else
            f"nothing in {seen.seconds:.1f} s{where}", f"{LEAST_RATE:g} Hz or more on '{topic}'",
            "motion_slow" if count else "samples_missing", kinds)


def _wrench(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """The sensor and its readings."""
    limits, readings = settings.wrench.range, seen.wrench
    yield _rate(seen, "wrench arrives", len(readings), seen.topics["wrench"], seen.wrench_topics,
                "message_malformed", "streams_mixed")
    if len(readings) < 2:
        return
    still = np.ptp(readings, axis=0) == 0.0
    same = listed(np.array(CHANNELS)[still]) or "no channel"
    yield ("sensor is connected", still.any(), f"{same} stands still in {len(readings)} readings",
           "readings that change in their last digits", "input_stuck",
           ("input_stuck", "samples_invalid.wrench"))
    if all(limits):
        largest = np.abs(readings).reshape(-1, 2, 3).max(axis=(0, 2))
        yield ("range of the sensor", (largest / limits).max() >= NEAR_RANGE,
               "{:.1f} N and {:.2f} N m".format(*largest),
               f"below {100.0 * NEAR_RANGE:.0f} % of {limits[0]:g} N and {limits[1]:g} N m",
               "samples_saturated", ("samples_saturated", "wrong_units.wrench"))
    if (seen.speed or 0.0) <= REST_SPEED:
        # Half of the mean square of differences is the variance, whatever drifts.
        noise = np.sqrt(0.5 * np.mean(np.diff(readings, axis=0)**2, axis=0)).reshape(2, 3)
        largest, allowed = noise.max(axis=1), NOISY * np.array(settings.wrench.noise)
        yield ("noise at rest", (largest > allowed).any(), "{:.2g} N and {:.2g} N m".format(
            *largest), "at most {:.2g} N and {:.2g} N m, three times the data sheet".format(
                *allowed) + f" of '{settings.wrench.sensor}'", "sensor_noisy", ())


def _motion(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """The motion of the sensor, and its frame."""
    yield _rate(seen, "motion arrives", seen.joints, seen.topics["joints"], (), "motion_slow",
                "samples_missing.motion", "wrong_units.joints", "joint_states_incomplete",
                "samples_invalid.joints")
    if len(seen.wrench) or settings.wrench.sensor_frame:
        kind = "robot_description_invalid"
        yield ("robot description", seen.missing, seen.missing or f"{len(seen.chain)} joints move "
               "the sensor", "a description that holds the frame of the wrench", kind, (kind,))
    if not seen.chain:
        return
    tcp = f", {1e3 * seen.tcp:.0f} mm from the TCP of the robot" if seen.tcp else ""
    yield ("frame of the wrench", seen.tcp > SHIFTED, f"'{seen.frame}', behind {len(seen.chain)} "
           f"joints{tcp}", "a frame of the arm, in which the wrench is expressed; TCP within "
           f"{1e3 * SHIFTED:g} mm", "sensor_frame", ("sensor_frame",))
    if seen.speed is not None:
        yield ("arm at rest", seen.speed > REST_SPEED, f"turns at {seen.speed:.2g} rad/s",
               f"at most {REST_SPEED:g} rad/s", "arm_moves", ())


def _drivers(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """Stamps and clocks, and the payload that the driver compensates."""
    stated, compensated = seen.driver.payload, settings.precompensated
    if stated is not None:
        is_added = compensated.mass > 0.0 or compensated.source != "settings"
        yield ("payload set on the robot", stated > 1e-3 and not is_added, f"{stated:.3f} kg",
               "0 kg, or added by precompensated.*", "payload_not_added", ("payload_not_added",))
    if not seen.ages:
        return
    ages, limit = list(seen.ages.values()), 2.0 * settings.alignment.delay_sd
    yield ("stamps", min(ages) < EARLIEST or max(ages) > LATEST, "age on arrival: " + ", ".join(
        f"{what} {age:.3f} s" for what, age in seen.ages.items()),
           f"stamps other than 0 that go on, at most {LATEST:g} s old when they arrive",
           "stamp_stray", ("stamp_stray",))
    if len(ages) == 2:
        apart = ages[0] - ages[1]
        yield ("clocks", abs(apart) > limit, f"the wrench is stamped {1e3 * abs(apart):.0f} ms "
               f"{'before' if apart > 0.0 else 'after'} joint states that arrive with it",
               f"at most {1e3 * limit:g} ms apart", "clocks_differ", ("clocks_differ",))


def _program(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """What a program needs to move the arm."""
    yield ("motion is allowed", not settings.motion.execute,
           f"motion.execute is {str(settings.motion.execute).lower()}",
           "motion.execute of the node is true", "motion_forbidden", ())
    others = "; ".join(f"'{name}' moves {listed(joints)}"
                       for name, joints in seen.controllers.items())
    yield ("controller", len(seen.fitting) != 1, listed(seen.fitting) or others or "no node has it",
           "one of type follow_joint_trajectory, for the joints that move the sensor",
           "controller_missing", ())
    stopped, speed = seen.driver.stopped, seen.driver.speed
    if stopped is not None or speed is not None:
        at = "" if speed is None else f", at {100.0 * speed:.0f} % of the programmed speed"
        yield ("robot may move", stopped or speed == 0.0, (stopped or "nothing stops it") + at,
               "no stop, program running", "robot_stopped", ())


def listed(names: Iterable[object]) -> str:
    """Some names in a sentence."""
    words = [str(name) for name in names]
    more = f" and {len(words) - 6} more" if len(words) > 6 else ""
    return ", ".join(words[:6]) + more


def check_by_motion(window: Window, settings: Settings) -> tuple[Row, ...]:
    """The rows of sign, axes, gravity and clocks after a small motion, or those that are wrong."""
    def all_open(measured: str) -> tuple[Row, ...]:
        return tuple(Row(name, OPEN, measured, text, TILT) for name, text in EXPECTED.items())

    up = window.motion.rotation[window.used, 2] if is_enough(window.used) else np.zeros((1, 3))
    tilts = np.linalg.svd(up - up.mean(axis=0), compute_uv=False) / np.sqrt(len(up))
    if tilts[0] < LEAST_TILT:
        return all_open(f"gravity turns by {tilts[0]:.2g} in the sensor, less than {LEAST_TILT:g}")
    sheet = sheet_of(settings)
    found = explain(window, sheet, Region(np.zeros(3), np.full(3, 2.0 * settings.shape.max_reach)))
    if wrong := contradictions(found, sheet, settings.load.reference_mass):
        return tuple(Row(
            name := NAMES.get(kind, FRAME), FAILED, (said := made(kind, numbers)).text,
            EXPECTED.get(name, "as the settings say"), KINDS[said.kind].remedy)
            for kind, numbers in wrong)
    delay, limit = found.setup.delay, 2.0 * settings.alignment.delay_sd
    clocks = Row("clocks", PASSED, f"the force comes {1e3 * abs(delay):.0f} ms "
                 f"{'after' if delay > 0.0 else 'before'} the motion",
                 f"the force follows the motion within {1e3 * limit:g} ms")
    if abs(delay) > limit:
        return (clocks._replace(verdict=FAILED, advice=KINDS["clocks_differ"].remedy),)
    mass, sd = found.wide_phi[0], float(np.sqrt(found.wide_covariance[0, 0]))
    fits = f"the mass fits as {mass:.2f} ± {CONFIDENCE_95 * sd:.2f} kg"
    if mass < CLEAR * sd:
        return all_open(f"{fits}: too little to tell")
    return (Row(SIGN, PASSED, fits, EXPECTED[SIGN]), *_directions(found), clocks)


def _directions(found: Explanation) -> Iterator[Row]:
    """Axes of the sensor and gravity, each by data alone, at the data sheet; no row where settings
    call it exact. Never wrong where something else pulls for certain, which looks alike."""
    likely = [model.fit for model in found.models if model.odds > found.models[0].odds - CERTAIN]
    is_alone = not all(any(term.odds for term in one.terms) for one in likely)
    for name, check, said, most in (("rotation", FRAME, "turned", TURNED),
                                    ("tilt", GRAVITY_ROW, "tilted", ASKEW)):
        terms = [copy(term) for term in found.best.terms if not term.odds]
        for term in terms:
            term.strength = np.inf
            term.sd = np.full(len(term.sd), VAGUE) if term.name == name else term.sd
        loose = fit(found.best.rows, terms, Prior(found.sheet, None), rounds=2 * ROUNDS)
        if name in loose.values:
            size = float(np.degrees(np.linalg.norm(loose.values[name])))
            spread = CONFIDENCE_95 * float(np.degrees(loose.sigma[name].max()))
            verdict = PASSED if size + spread < most else (
                FAILED if is_alone and size - spread > most else OPEN)
            yield Row(check, verdict, f"{said} by {size:.1f} ± {spread:.1f}°", EXPECTED[check],
                      {OPEN: TILT, FAILED: KINDS["frame_wrong"].remedy}.get(verdict, ""))


def prove(window: Window, bias: np.ndarray, present: np.ndarray, new: np.ndarray, settings: Settings
          ) -> Prediction | None:
    """Compare the payload (10,) that the robot has, and a new one, with the wrench of a motion;
    None where it was too short; bias: (6,) reading without load, sign of the topic [N, N m]. Clocks
    may differ as they may for the estimate: by what explains most."""
    used, wrench = window.used, settings.wrench
    if used.sum() < LEAST:
        return None
    rows = regressor_of(window.motion)
    measured = np.where(used[:, None], window.wrench - wrench.sign * bias, np.nan)
    noise, accuracy, drift = map(np.array, (wrench.noise, wrench.accuracy, wrench.drift))
    channel = np.sqrt(3.0 * (noise**2 / window.count[used].mean() + accuracy**2 + drift**2))
    gain = np.hypot(wrench.gain_error, wrench.cross_talk) * np.array(rms_lengths(rows[used] @ new))
    allowed, n = tuple((TIMES * np.hypot(channel, gain)).tolist()), len(used)
    most = round(2.0 * settings.alignment.delay_sd / BIN)  # bins by which clocks differ
    models = np.where(used[:, None], [rows @ present, rows @ new], np.nan)
    before, after = np.pad(models, ((0, 0), (most, most), (0, 0)), constant_values=np.nan)
    proofs = (Prediction(BIN * np.arange(n), measured, before[k:k + n], after[k:k + n], allowed)
              for k in range(2 * most + 1))
    return min((proof for proof in proofs if proof.residuals), default=None,
               key=lambda proof: max(np.divide(proof.residuals[1], allowed)))
