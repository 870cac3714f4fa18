# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The runs: each row of the table by name, with a function that gives the numbers of one run."""

import importlib
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros import api

from . import faults, objects, situations
from .generator import (
    ARMS,
    BIAS_SD,
    ENCODER_NOISE,
    FRAME,
    GRAVITY,
    SOURCES,
    START_NS,
    WHITE,
    Array,
    Recording,
    Scenario,
    random_body,
    random_law,
    report,
    wrench_of,
)
from .renamed import FINDINGS

Numbers = dict[str, float]
NEVER = 9.9  # s, for what was not named or not right in the end
ADAPTER = "adapter_10"
# Findings that must not come in ordinary motion.
ALARMS = ("contact", "payload_changed", "zero_moved.wrench", "estimate_lost", "load_unexplained",
          "frame_wrong", "sign_wrong", "residual_large", "mass_at_bound", "reset",
          "mounting_changed", "payload_walks", "not_rigid")
# And those that no error of a sensor may bring about.
FALSE = ("contact", "payload_changed", "zero_moved", "estimate_lost", "sign_wrong", "frame_wrong",
         "load_unexplained")


@cache
def core() -> Any:
    """The adapter of the core."""
    return importlib.import_module(f".{ADAPTER}", __package__)


def is_any(name: str, kinds: tuple[str, ...]) -> bool:
    """Whether a finding is one of these kinds (of version 0.2)."""
    return any(name.startswith(FINDINGS.get(kind, kind)) for kind in kinds)


# ---- accuracy ------------------------------------------------------------------------------------

def errors(phi: Array, truth: Array, lengths: Array) -> Numbers:
    """Errors in percent, as Nadeau et al. (2022, eqs 10 to 12)."""
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    scale = truth[0] / 12.0 * np.array([abs((i == j) * (lengths @ lengths) - lengths[i]
                                            * lengths[j]) for i, j in pairs])
    gap = np.abs(phi[1:4] / phi[0] - truth[1:4] / truth[0])
    return {"e_m": 100.0 * abs(phi[0] / truth[0] - 1.0), "e_COM": 100.0 * float(
        np.mean(gap / lengths)), "e_J": 100.0 * float(np.mean(np.abs(phi[4:] - truth[4:]) / scale))}


def _mean(rows: list[Numbers]) -> Numbers:
    return {key: float(np.mean([row[key] for row in rows if key in row]))
            for key in rows[0]} if rows else {}


def accuracy(name: str, seed: int) -> Numbers:
    """All objects of a scenario, once."""
    known, rows = objects.ROWS[name], []
    speed = known.speeds[seed % len(known.speeds)]
    for number, told in enumerate(getattr(objects, known.objects)().values()):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed, number])
        law = objects.sinusoid(speed, rng)
        t = np.arange(round(known.seconds * known.rate)) / known.rate
        made = api.Identifier(core().settings({**objects.settings(known), **told.hint}))
        made.set_robot_description(objects.ARM.urdf)
        q, y = law(t).q, objects.readings(known, told, law, t, rng)
        stamps = START_NS + np.round(1e9 * t).astype(np.int64)
        feed(made, objects.ARM.names, (stamps, q + ENCODER_NOISE * rng.normal(size=q.shape)),
             (stamps, y), 0.5)
        made.finish()
        outcome = made.solve()
        rows.append(errors(outcome.phi, told.phi, told.lengths) | {"none": 0.0}
                    if outcome.valid else {"none": 1.0})
    return _mean(sorted(rows, key=len, reverse=True))


def tools(level: str, seed: int) -> Numbers:
    """All workshop tools, once, by noisy accelerations."""
    force, torque, linear, angular = objects.NOISE[level]
    rows = []
    changes = {**objects.EXACT, "wrench.noise": (force, torque),
               "accelerations.noise": (linear, angular, 1e-3), "alignment.rotation_sd": 0.0,
               "alignment.tilt_sd": 0.0, "estimator.estimate_bias": False}
    for number, tool in enumerate(objects.tools()):
        rng = np.random.default_rng([zlib.crc32(level.encode()), seed, number])
        t, rotation, acceleration, omega, alpha = tool.motion
        y = -tool.wrench + np.repeat([force, torque], 3) * rng.normal(size=tool.wrench.shape)
        acceleration = acceleration + linear * rng.normal(size=alpha.shape)
        alpha = alpha + angular * rng.normal(size=alpha.shape)
        outcome = core().identify_filled(
            tool.file, (t, rotation, acceleration, omega, alpha), y, changes)
        rows.append(errors(outcome.phi, tool.phi, tool.lengths) | {"none": 0.0}
                    if outcome.valid else {"none": 1.0})
    return _mean(sorted(rows, key=len, reverse=True))


# ---- sensors as they are -------------------------------------------------------------------------

def feed(made: Any, names: tuple[str, ...], joints: tuple[Array, Array],
         wrenches: tuple[Array, Array], every: float) -> None:
    """Add samples, with an estimate every so many seconds as a node makes."""
    ticks = np.arange(joints[0][0], max(joints[0][-1], wrenches[0][-1]) + 1, round(every * 1e9))[1:]
    one, two = (np.split(np.arange(len(s)), np.searchsorted(s, ticks)) for s in (joints[0],
                                                                                 wrenches[0]))
    for a, b in zip(one, two, strict=True):
        made.add_joint_states(joints[0][a], names, joints[1][a])
        made.add_wrenches(wrenches[0][b], FRAME, wrenches[1][b])
        made.solve()


def identifier_of(recording: Recording) -> Any:
    """The identifier after a recording."""
    made = api.Identifier(core().settings(recording.settings))
    made.set_robot_description(recording.arm.urdf)
    feed(made, recording.arm.names, (recording.joint_stamps, recording.positions),
         (recording.stamps, recording.wrench), 0.5)
    return made


def limits(values: Array) -> Array:
    """Half widths (10,) below which parameters count as known: 5 % of the mass, 5 mm or 5 % of the
    distance, 20 % of the mean moment."""
    com = max(0.005, 0.05 * float(np.linalg.norm(values[1:4])))
    return np.r_[0.05 * values[0], 3 * [com], 6 * [0.2 * values[[4, 7, 9]].mean()]]


GROUPS = {"m": slice(0, 1), "COM": slice(1, 4), "I": slice(4, 10)}


def judged(outcome: Any, truth: Array) -> Numbers:
    """Coverage, deviations, claims and errors of an estimate (or of none) against the truth."""
    if not outcome.valid:
        return {"none": 1.0} | {f"claimed_{g}": 0.0 for g in GROUPS}
    got, sd = np.asarray(outcome.report), np.asarray(outcome.sigma)
    gap = np.abs(got - truth)
    claimed = (np.array(outcome.verdict) == api.ParameterVerdict.IDENTIFIED) & (
        2.0 * sd <= limits(got) * 1.001)
    out = {"none": 0.0, "claims": float(claimed.sum()),
           "false": float((claimed & (gap > limits(truth))).sum()),
           "e_m": 100.0 * gap[0] / truth[0], "e_COM": 1e3 * float(np.linalg.norm(gap[1:4]))}
    for group, part in GROUPS.items():
        out |= {f"in_{group}": float((gap <= 1.96 * sd)[part].mean()),
                f"z_{group}": float(np.sqrt(np.mean((gap / sd)[part] ** 2))),
                f"claimed_{group}": float(claimed[part].mean())}
    return out


def sensor(name: str, seed: int) -> Numbers:
    """A recording with the errors of a sensor, as offline tools take it."""
    recording = Scenario(name, seed).record()
    made = identifier_of(recording)
    made.finish()
    outcome, truth = made.solve(), report(recording.told.phi)
    out = judged(outcome, truth) | {
        "alarm": float(any(is_any(f.name, FALSE) for f in made.findings()))}
    if name == "ideal" and outcome.valid:
        out["width"] = float(np.exp(np.mean(np.log(
            np.asarray(outcome.sigma)[:4] / cramer_rao(recording)[:4]))))
        out["in_m_COM"] = (out["in_m"] + 3.0 * out["in_COM"]) / 4.0
    return out


def cramer_rao(recording: Recording) -> Array:
    """Least standard deviations (4,) of mass and centre of mass where motion and white noise are
    known, but bias, rotation of the sensor, tilt and delay only by their priors."""
    motion, phi = recording.motion, recording.told.phi
    columns = [wrench_of(row, *motion[2:]) for row in np.eye(10)]
    wrench = motion.wrench(phi)
    columns += [np.tile(row, (len(wrench), 1)) for row in np.eye(6)]
    columns += [np.cross(wrench.reshape(-1, 2, 3), axis).reshape(-1, 6) for axis in np.eye(3)]
    up = motion.axes[:, :, 2]
    for axis in np.eye(3)[:2]:
        tilted = np.einsum("nij,j->ni", motion.axes, np.cross(axis, [0.0, 0.0, 1.0]))
        columns.append(wrench_of(phi, GRAVITY * tilted, 0.0 * up, 0.0 * up))
    columns.append(np.gradient(wrench, 1.0 / recording.rate, axis=0))
    rows = (np.stack(columns, axis=2) / recording.white[:, None]).reshape(-1, 22)
    prior = np.r_[np.full(10, np.inf), np.repeat([5.0, 0.5], 3), np.deg2rad([0.5, 0.5, 0.5]),
                  np.deg2rad([0.25, 0.25]), 0.05]
    information = rows.T @ rows + np.diag(prior**-2.0)
    scale = np.sqrt(np.diag(information))
    covariance = np.linalg.inv(information / np.outer(scale, scale)) / np.outer(scale, scale)
    com = phi[1:4] / phi[0]
    turn = np.hstack([-com[:, None], np.eye(3)]) / phi[0]
    return np.sqrt(np.r_[covariance[0, 0], np.diag(turn @ covariance[:4, :4] @ turn.T)])


# ---- loads that move -----------------------------------------------------------------------------

def moving(name: str, seed: int) -> Numbers:
    """Estimates twice a second: covered as the load is then, named in time, wrong and fresh."""
    scene = situations.moving_load(name, seed)
    y, q = scene.measured(np.random.default_rng([seed, 41]))
    made = api.Identifier(core().settings({}))
    made.set_robot_description(scene.arm.urdf)
    begin, deadline = scene.events
    rows, named = [], NEVER
    for first in range(0, len(y), 250):
        part = slice(first, first + 250)
        made.add_joint_states(scene.stamps[part], scene.arm.names, q[part])
        made.add_wrenches(scene.stamps[part], FRAME, y[part])
        outcome, now = made.solve(), scene.t[part][-1]
        if now < begin:
            continue
        if named == NEVER and any(is_any(f.name, scene.names) for f in made.findings()):
            named = now - begin
        if outcome.valid and not outcome.stale:
            true = situations.truth(scene, part.stop - 1)
            gap, sd = np.abs(outcome.report - true), outcome.sigma
            wrong = (gap > 3.0 * sd) & (gap > limits(true))
            rows.append({f"in_{g}": float((gap <= 2.0 * sd)[p].mean()) for g, p in GROUPS.items()}
                        | {"wrong": float(wrong[:4].any())})
    felt = scene.is_felt(deadline)
    out = _mean(rows) if rows else {"wrong": 0.0}
    return out | {"wrong_s": 0.5 * len(rows) * out.pop("wrong"), "fresh_s": 0.5 * len(rows)} | (
        {"named": float(named <= deadline - begin)} if felt else {})


# ---- faults of the inputs ------------------------------------------------------------------------

AT, END = 10.0, 23.0  # s


def _messages(seed: int, kind: str, changes: bool) -> tuple[faults.Stream, Any, list[Array]]:
    """Messages of 200 Hz, the arm, and the true loads: the second from `AT` on where it changes."""
    rng = np.random.default_rng([seed, 51])
    arm = ARMS[1]
    loads = [b * m / b[0] for b, m in ((random_body(rng).phi, 1.0), (random_body(rng).phi, 1.8))]
    way = ("stop-and-go", "joints", "wrist")[seed % 3]
    t = np.arange(round(END * 200.0)) / 200.0
    path = random_law(arm, way, 0.8, END, rng)(t)
    motion = arm.motion(path)
    now = np.where(((t >= AT) & changes)[:, None], loads[1], loads[0])
    y = BIAS_SD * rng.normal(size=6) - motion.wrench(now) + WHITE * rng.normal(size=(len(t), 6))
    q = path.q + ENCODER_NOISE * rng.normal(size=path.q.shape)
    quaternion = Rotation.from_matrix(motion.axes).inv().as_quat()
    out = []
    for k, at in enumerate(t.tolist()):
        out.append(faults.Message(at, "joints", at, (arm.names, q[k])) if kind == "joints" else
                   faults.Message(at, "pose", at, np.r_[motion.position[k], quaternion[k]]))
        out.append(faults.Message(at, "wrench", at, y[k]))
    return out, arm, loads


def fault(name: str, seed: int) -> Numbers:
    """A fault after 10 s of motion: when it is named, and how long new estimates are wrong."""
    item = faults.FAULTS[name]
    changed = name == "payload changed"
    stream, arm, loads = _messages(seed, item.on, changed)
    stream = item.inject(stream, AT, np.random.default_rng([seed, 52]))
    live = core().Live({"buffer.window": 8.0, **dict(item.settings)},
                       arm.urdf if item.on == "joints" else "")
    said: dict[str, str] = {}
    named, wrong, advance, solve = NEVER, 0, 0.0, 0.0
    since = 0.0 if item.setup else AT
    for m in stream:
        stamp = START_NS + round(1e9 * m.stamp)
        if m.kind == "joints":
            live.joints(stamp, m.content[0], m.content[1].tolist())
        elif m.kind == "wrench":
            live.wrench(stamp, FRAME, m.content)
        else:
            live.transform(stamp, "base_link", FRAME, m.content)
        if m.at < advance:
            continue
        live.advance()
        advance = m.at + 0.05
        if m.at >= solve:
            solve = m.at + 0.25
            outcome = live.solve()
            times = (m.at, m.at - 0.6) if changed else (m.at,)  # the one before may stand so long
            if outcome.valid and not outcome.stale and (item.setup or all(
                    _is_wrong(outcome, loads[changed and t >= AT]) for t in times)):
                wrong += 1
        texts = live.findings()
        new = [n for n, text in texts.items() if said.get(n) != text]
        if named == NEVER and m.at >= since and any(is_any(n, (item.finding,)) for n in new):
            named = m.at - since
        said = texts
    return {"named_s": named, "wrong_s": 0.25 * wrong}


def _is_wrong(outcome: Any, phi: Array) -> bool:
    """Whether mass or centre of mass miss by more than four deviations and a limit."""
    true = report(phi)
    gap, sd = np.abs(outcome.report - true)[:4], outcome.sigma[:4]
    beyond = gap > np.maximum([0.05 * true[0], 0.005, 0.005, 0.005], 4.0 * sd)
    return bool((beyond & (np.r_[1, outcome.verdict[1:4]] > 0)).any())


# ---- the live half -------------------------------------------------------------------------------

class Log(NamedTuple):
    """What a scene brought: compensated wrenches (n, 6), NaN where none was published; what they
    should be (n, 6); their force errors (n,) [N]; mass removed (n,), NaN where none is; (time,
    name) of each new finding."""

    left: Array
    external: Array
    off: Array
    mass: Array
    news: list[tuple[float, str]]


def play(scene: situations.Scene, rng: np.random.Generator) -> Log:
    """A scene as a node sees it: the load is judged every .1 s, an estimate made every .5 s."""
    y, q = scene.measured(rng)
    live = core().Live(scene.settings, scene.arm.urdf)
    n, stamps, names = len(y), scene.stamps, scene.arm.names
    external = np.array(np.broadcast_to(scene.external, (n, 6)))
    left, mass, news, said = np.full((n, 6), np.nan), np.full(n, np.nan), [], {}
    newest, step = None, round(0.1 * situations.RATE)
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        for k in range(first, part.stop):
            if scene.control is not None:
                external[k] = scene.control(k, newest)
                y[k] += external[k]
            newest = live.compensate(int(stamps[k]), names, q[k].tolist(), FRAME, y[k].tolist())
            if newest is not None:
                left[k] = newest
        live.take(stamps[part], names, q[part], FRAME, y[part])
        if (first // step) % 5 == 4:
            live.solve()
        texts, removed = live.findings(), live.removed()
        news += [(float(scene.t[part.stop - 1]), name) for name, text in texts.items()
                 if said.get(name) != text]
        said = texts
        mass[part.stop - 1:part.stop + step] = np.nan if removed is None else removed[0]
    off = np.linalg.norm((left - external)[:, :3], axis=1)
    if scene.or_this is not None:
        off = np.minimum(off, np.linalg.norm((left - external - scene.or_this)[:, :3], axis=1))
    return Log(left, external, off, mass, news)


def _found(log: Log, names: tuple[str, ...], since: float, until: float = np.inf) -> float:
    return next((t - since for t, n in log.news if since <= t < until and is_any(n, names)), NEVER)


def _right_from(scene: situations.Scene, log: Log, since: float, until: float) -> float:
    """Seconds until the compensated force is within 1 N (rms) for half a second."""
    width = round(0.5 * situations.RATE)
    some = np.flatnonzero((scene.t >= since) & (scene.t < until - 0.5))
    for k in some:
        part = log.off[k:k + width]
        if np.isfinite(part).all() and np.mean(part**2) < 1.0:
            return float(scene.t[k] - since)
    return NEVER


def contact(name: str, seed: int) -> Numbers:
    """A push: is it named, is the payload dropped, is the wrench right when it is over?"""
    scene = situations.LIVE[name](seed)
    log = play(scene, np.random.default_rng([seed, 61]))
    begin, end = scene.events
    told = float(np.isfinite(log.left[(scene.t > begin - 1.0) & (scene.t < begin)]).mean())
    # Until the arm has moved for 3 s after the push.
    until = end + 3.0 if name == "contact in motion" else 26.0
    during = (scene.t >= begin) & (scene.t < until)
    true, mass = scene.phi[0, 0], log.mass[during]
    out = {"known": told, "named_s": _found(log, scene.names, begin, end + 1.0),
           "silent_s": float(np.isnan(log.left[during, 0]).sum()) / situations.RATE,
           "dropped": float((np.abs(mass[np.isfinite(mass)] / true - 1.0) > 0.25).any()),
           "mistaken": float(_found(log, ("payload_changed",), begin, until) < NEVER),
           "right_s": _right_from(scene, log, end, scene.t[-1])}
    if scene.control is not None:
        pressed = (scene.t >= end - 3.0) & (scene.t < end)
        force = np.linalg.norm(log.external[pressed, :3], axis=1)
        out["press_off"] = float(np.mean(np.abs(force - situations.TARGET)))
    return out


def grips(name: str, seed: int) -> Numbers:
    """A grip and a release in motion: named when, right when, and what else is said."""
    scene = situations.LIVE[name](seed)
    log = play(scene, np.random.default_rng([seed, 61]))
    one, two = scene.events
    out = {"known": float(np.isfinite(log.left[(scene.t > one - 1.0) & (scene.t < one)]).mean())}
    for what, at, until in (("grip", one, two), ("release", two, 32.0)):
        out |= {f"named_{what}_s": _found(log, scene.names, at, until),
                f"right_{what}_s": _right_from(scene, log, at, until)}
    out["false"] = float(sum(is_any(n, ALARMS) for t, n in log.news if t > 6.0 and not any(
        at <= t < at + 3.0 for at in (one, two))))
    return out


def still(name: str, seed: int) -> Numbers:
    """Nothing happens: false events, and what is left in the compensated force from 20 s on."""
    scene = situations.LIVE[name](seed)
    log = play(scene, np.random.default_rng([seed, 61]))
    off = log.off[scene.t >= 20.0]
    there = off[np.isfinite(off)]
    return {"false": float(sum(is_any(n, ALARMS) for _, n in log.news)),
            "rms": float(np.sqrt(np.mean(there**2))) if len(there) else 0.0,
            "over_1N_s": float((there > 1.0).sum()) / situations.RATE,
            "over_3N_s": float((there > 3.0).sum()) / situations.RATE,
            "silent_s": float(np.isnan(off).sum()) / situations.RATE}


# ---- real recordings, and time -------------------------------------------------------------------

def real(name: str, seed: int) -> Numbers:
    """A KUKA LBR Med with an ATI Gamma, about one axis; truth from 24 poses at rest."""
    outcome = api.identify_recording(objects.data_folder() / "kuka_ati_gamma" / name)
    if not outcome.valid:
        return {"none": 1.0}
    gap, sd = np.abs(outcome.report - np.r_[0.933, 0.0, 0.0, 0.0439, np.zeros(6)]), outcome.sigma
    return {"none": 0.0, "e_m": 100.0 * gap[0] / 0.933, "e_z": 1e3 * gap[3],
            "in_m": float(gap[0] <= 1.96 * sd[0]), "in_z": float(gap[3] <= 1.96 * sd[3])}


def cost(name: str, seed: int) -> Numbers:
    """Processor time: of an estimate (median of ten, 30 s at 1 kHz), of a recording of a minute
    with two estimates a second, or of a compensated wrench."""
    source = "mix-cell" if name == "estimate with causes" else "white"
    seconds = 60.0 if name == "a minute" else 30.0
    recording = Scenario(source, seed, (seconds,), ("joints",), 1000.0).record()
    arm, y, q = recording.arm, recording.wrench, recording.positions
    begun = time.process_time()
    if name == "a minute":
        identifier_of(recording).finish()
        return {"s": time.process_time() - begun}
    if name == "compensated wrench":
        live, taken = core().Live(recording.settings, arm.urdf), []
        rows = [(int(s), a.tolist(), b.tolist()) for s, a, b in zip(recording.stamps, q, y,
                                                                    strict=True)]
        for first in range(0, 15000, 500):
            part = slice(first, first + 500)
            begun = time.process_time()
            for stamp, positions, wrench in rows[part]:
                live.compensate(stamp, arm.names, positions, FRAME, wrench)
            taken.append((time.process_time() - begun) / 500.0)
            live.take(recording.stamps[part], arm.names, q[part], FRAME, y[part])
            live.solve()
        return {"ms": 1e3 * float(np.median(taken[15:]))}
    made = api.Identifier(core().settings(recording.settings))
    made.set_robot_description(arm.urdf)
    taken = []
    for first in range(0, len(y), 500):
        part = slice(first, first + 500)
        made.add_joint_states(recording.stamps[part], arm.names, q[part])
        made.add_wrenches(recording.stamps[part], FRAME, y[part])
        made.findings()  # the samples are taken in
        begun = time.process_time()
        made.solve()
        taken.append(time.process_time() - begun)
    return {"ms": 1e3 * float(np.median(taken[-10:]))}


# ---- all rows ------------------------------------------------------------------------------------

class Row(NamedTuple):
    """Runs of one kind: `work(seed)` for so many seeds from `first` on; group: of the table."""

    group: str
    work: Callable[[int], Numbers]
    count: int
    first: int = 9000


def rows() -> dict[str, Row]:
    """Every row by its name; those of data that are not there are missing."""
    out = {name: Row("accuracy", partial(accuracy, name), 12 if name != "misaligned" else 8)
           for name in objects.ROWS}
    if objects.tools():
        out |= {f"tools-{level}": Row("accuracy", partial(tools, level), 4)
                for level in objects.NOISE}
    out |= {name: Row("sensors", partial(sensor, name), 96 if name == "ideal" else 16)
            for name in SOURCES}
    out |= {name: Row("moving loads", partial(moving, name), 8) for name in situations.LOADS}
    out |= {f"fault: {name}": Row("faults", partial(fault, name), 1) for name in faults.FAULTS}
    for name, count in (("contact at rest", 24), ("closed loop", 16), ("contact in motion", 40)):
        out[name] = Row("contacts", partial(contact, name), count)
    out["grip and release"] = Row("changes", partial(grips, "grip and release"), 20)
    for name, count in (("ordinary minute", 8), ("drift 5 N/min", 4), ("set-up", 9)):
        out[name] = Row("still", partial(still, name), count)
    if (objects.data_folder() / "kuka_ati_gamma").is_dir():
        out |= {f"real: {name}": Row("real", partial(real, name), 1)
                for name in ("baseline", "contact")}
    return out | {f"time: {name}": Row("time", partial(cost, name), 2) for name in (
        "estimate, clean", "estimate with causes", "a minute", "compensated wrench")}


def tasks(only: list[str], limit: int, offset: int) -> Iterator[tuple[str, int]]:
    """(row, seed) of all runs of rows whose name or group begins with any of `only`."""
    for name, row in rows().items():
        if not only or any(name.startswith(o) or row.group == o for o in only):
            for k in range(min(row.count, limit or row.count)):
                yield name, row.first + offset + k
