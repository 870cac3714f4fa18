# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of motion and load (CSV, NPZ, Parquet, LeRobot) as recordings, or as poses at rest."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from io import StringIO
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...extras import optional_packages
from ...inertia import Array
from ...io.files import read_yaml, user_path
from ...io.inputs import START, Edges, JointStates, Samples, Wrenches
from ...limits import MAX_TABLE_BYTES
from ...samples.ring import SECOND
from ...samples.wrenches import CHANNELS
from ...settings import Settings
from ...settings.spec import Spec, check, coerce, setting
from . import Recording, one_error

INFO = Path("meta") / "info.json"
FORMS = [(cell, point) for point in ".," for cell in (",", ";", "\t", None) if cell != point]
MOST_ABOVE = 1000  # lines among which the first row of numbers is
TIMES = ("time", "t", "stamp", "timestamp")
# Beginnings of names of columns, followed by the name of the joint, its number or nothing.
POSITIONS = ("position", "positions", "q", "qpos")
EFFORTS = ("effort", "efforts", "tau", "torque")
SECONDS, METRES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}, {"m": 1.0, "mm": 1e-3}
ANGLES = {"rad": 1.0, "deg": np.pi / 180.0, "°": np.pi / 180.0}
LOADS = {"N": 1.0, "kN": 1e3, "Nm": 1.0, "Nmm": 1e-3, "mNm": 1e-3}
UNITS = SECONDS | METRES | ANGLES | LOADS
WITH_UNIT = re.compile(r"(.*?\S)(\s*[\[(])\s*([^\[\]()]*?)\s*[\])](\[\d+\])?")
# Ways to give an orientation: what makes a rotation of a row, and shortest and longest row.
ORIENTATIONS: dict[str, tuple[Callable[[Array], Rotation], tuple[float, float]]] = {
    "quaternion": (Rotation.from_quat, (0.95, 1.05)),
    "rotation": (lambda rows: Rotation.from_matrix(rows.reshape(-1, 3, 3)), (1.65, 1.82)),
    "rotation_vector": (Rotation.from_rotvec, (0.0, 4.0 * np.pi)),
    "rpy": (lambda rows: Rotation.from_euler("xyz", rows), (0.0, 4.0 * np.pi))}
SLOWEST = 0.5  # s between rows; slower ones are poses at rest, or in another unit
EARLIEST = 1e6  # s
FEWEST_POSES, MOST_POSES = 6, 118  # a second of the longest window each
STEEP = 0.05  # rad between poses that differ


def is_table(path: Path) -> bool:
    """True if a path is a table, not a bag."""
    return path.suffix.lower() in READERS or (user_path(path) / INFO).is_file()


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return {name: values if name == "names" else values.astype(float)
                for name, values in file.items() if name == "names" or values.dtype.kind in "iuf"}


def _read_parquet(path: Path, **selection: Any) -> dict[str, np.ndarray]:
    """The columns of numbers, or of lists of numbers of one length."""
    with optional_packages("reading a Parquet file"):
        import pandas as pd
        import pyarrow  # noqa: F401, which pandas uses
    columns: dict[str, np.ndarray] = {}
    for name, column in pd.read_parquet(path, **selection).items():
        with suppress(TypeError, ValueError):  # text, images, lists of different lengths
            columns[str(name)] = np.array(column.tolist(), dtype=float)
    return columns


def _read_episode(path: Path, episode: int) -> dict[str, np.ndarray]:
    """The rows of one episode. A vector with names is there as ``observation.state/gripper``, too
    (raises InvalidSetting)."""
    info = json.loads((path / INFO).read_text(encoding="utf-8"))
    table = _read_parquet(path / "data", filters=[("episode_index", "==", episode)])
    if not len(table["episode_index"]):
        raise InvalidSetting(f"episode is {episode}, of {info.get('total_episodes', '?')} from 0")
    for feature, column in list(table.items()):
        names = info["features"].get(feature, {}).get("names")
        if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}
            (names,) = names.values()
        if column.ndim == 2 and isinstance(names, list) and len(names) == column.shape[1]:
            table |= {f"{feature}/{name}": column[:, k] for k, name in enumerate(names)}
    return table


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    """Columns of numbers below a line of names; times as 2026-01-31T12:00:00.5 are seconds since
    1970, and what is neither becomes NaN."""
    with optional_packages("reading a table"):
        import pandas as pd
    data = path.read_bytes()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:  # as Excel writes it
        text = data.decode("cp1252", errors="replace")
    lines = [line.lstrip("# ") for line in text.splitlines() if line.strip()] or [""]
    head = pd.Series(lines[:MOST_ABOVE])

    def cells(form: tuple[str | None, str]) -> tuple[Any, Any]:
        """The first lines in cells, as text and as numbers."""
        words = head.str.split(form[0], expand=True).apply(lambda cells: cells.str.strip(' "'))
        return words, words.apply(lambda cells: pd.to_numeric(
            cells.str.replace(form[1], ".", regex=False), errors="coerce"))

    cell, point = max(FORMS, key=lambda form: cells(form)[1].count().sum())
    words, numbers = cells((cell, point))
    counts, widths = numbers.count(axis=1), words.count(axis=1)
    first = int((2 * counts > counts.max()).argmax())  # row of numbers
    fitting = words[:first][(widths[:first] == widths[first]) & (widths[first] > 1)].nunique(axis=1)
    if fitting.empty:
        raise ValueError(f"it has '{lines[0]:.60}' in its first line, {widths[first]} columns of "
                         f"numbers and {widths[first - 1] if first else 'no'} names above them; "
                         "commas, semicolons, tabs or blanks separate columns")
    # Remarks above the names, and units below them, are less different.
    names, below = words.loc[fitting.idxmax()], words.loc[fitting.idxmax() + 1].fillna("")
    for name in names[names.duplicated() & (names != "")].dropna():
        raise ValueError(f"it has two columns with the name '{name}'; each needs its own")
    if not UNITS.keys().isdisjoint(units := below.str.strip("[]()")):
        names = (names + " (" + units + ")").where(names != "")
    table = pd.read_csv(StringIO("\n".join(lines[first:]).replace(point, ".")), header=None,
                        sep=cell or r"\s+", skipinitialspace=True, index_col=False)

    def numbers_in(column: Any) -> np.ndarray:
        if (read := pd.to_numeric(column, errors="coerce")).isna().all():
            with suppress(TypeError, ValueError):
                read = column.map(lambda text: pd.Timestamp(text).timestamp())
        return np.asarray(read, float)

    return {name: numbers_in(table[k]) for k, name in names.dropna().items() if name}


READERS: dict[str, Callable[[Path], dict[str, np.ndarray]]] = {
    ".csv": _read_csv, ".tsv": _read_csv, ".txt": _read_csv, ".npz": _read_npz,
    ".parquet": _read_parquet}


def _split_unit(name: str) -> tuple[str, str]:
    """A name and its unit: fx [N], time (ms), q1[deg]; q[2] and q[elbow] have none (empty)."""
    if found := WITH_UNIT.fullmatch(name):
        unit = re.sub("[\u00b5\u03bc]", "u", re.sub(r"[\s·⋅*.1-]", "", found[3]))
        if found[2] != "[" or unit in UNITS:
            return found[1] + (found[4] or ""), unit
    return name, ""


@dataclass(frozen=True)
class Columns:
    """Names of columns. A single name stands for a column that holds a vector in each row, and
    ``name[2]`` for the third number of a vector."""

    time: str = ""  # empty: the first of `TIMES` that is there
    wrench: tuple[str, ...] = CHANNELS  # N, N m, in the frame and with the sign of the settings
    position: tuple[str, ...] = ("x", "y", "z")  # of the sensor in the world; may be missing
    # Orientation of the sensor: the one that is named, else the first that is there.
    quaternion: tuple[str, ...] = ("qx", "qy", "qz", "qw")
    rotation: tuple[str, ...] = tuple(f"r{i}{k}" for i in "123" for k in "123")  # row by row
    rotation_vector: tuple[str, ...] = ("rx", "ry", "rz")  # axis times angle [rad]
    rpy: tuple[str, ...] = ("roll", "pitch", "yaw")  # rad
    # By name of joint [rad], [N m], in place of a pose, and of the wrench; empty: columns that
    # begin with one of `POSITIONS` and of `EFFORTS`.
    joints: Mapping[str, str] = field(default_factory=dict)
    efforts: Mapping[str, str] = field(default_factory=dict)
    frame: str = "sensor"  # name
    rate: float = setting(0.0, "Of rows without a time; 0: they are poses.", unit="Hz", low=0.0)
    time_unit: str = setting("s", "Of the time.", choices=tuple(SECONDS))
    position_unit: str = setting("m", "Of the position.", choices=tuple(METRES))
    episode: int = setting(0, "Of a dataset.", low=0)


def columns_from_file(path: Path) -> Columns:
    """Columns from a YAML file; what it does not name keeps its usual name (raises InvalidSetting:
    unreadable, an unknown key, or a value that is not allowed)."""
    tree, usual = read_yaml(user_path(path), f"file of columns {path}"), vars(Columns())
    specs = {item.name: item.metadata.get("spec", Spec("")) for item in fields(Columns)}
    unknown = [name for name in tree if name not in usual] if isinstance(tree, dict) else [tree]
    if unknown:
        raise InvalidSetting(f"file of columns {path}: '{unknown[0]!s:.100}' is not known; "
                             f"allowed: {', '.join(usual)}")
    given: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(usual[name], tuple):
            given[name] = tuple(map(str, value if isinstance(value, list) else [value]))
        elif not isinstance(usual[name], dict):
            given[name] = coerce(name, value, usual[name])
            check(name, given[name], specs[name])
        elif isinstance(value, dict):
            given[name] = {str(joint): str(column) for joint, column in value.items()}
        else:
            raise InvalidSetting(f"{name} is {value!s:.200}; needed: column by name of joint")
    if sum(name in given for name in ORIENTATIONS) > 1:
        raise InvalidSetting(f"more than one of {', '.join(ORIENTATIONS)} is named; one is needed")
    return Columns(**given)


USUAL = {*TIMES, *chain.from_iterable(
    value for value in vars(Columns()).values() if isinstance(value, tuple))}


class Table:
    """The columns (n,) or (n, k) of a table by their names with and without units, vectors also as
    ``name[2]``; what, present: the table, and what it holds; orientations: named, else there.

    Raises:
        RecordingError: it cannot be read; InvalidSetting: there is no such episode; MissingPackage:
            pandas, or for Parquet pyarrow, is not installed.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        self.columns, self.what, path = columns, f"table {path}", user_path(path)
        with one_error(f"{self.what} cannot be read"):
            if (path / INFO).is_file():  # of a LeRobot dataset
                content = _read_episode(path, columns.episode)
            elif path.is_file() and path.stat().st_size <= MAX_TABLE_BYTES:
                content = READERS[path.suffix.lower()](path)
            else:
                raise ValueError(f"it is no regular file of at most {MAX_TABLE_BYTES} bytes")
        self.present, self._rows = f"{', '.join(sorted(content)) or 'none':.400}", 0
        self._joints = np.ravel(content.pop("names", ()))
        self.content = {name: np.atleast_1d(column) for name, column in content.items()}
        self.content |= {f"{name}[{k}]": values for name, column in content.items()
                         if column.ndim == 2 for k, values in enumerate(column.T)}
        self._units: dict[str, str] = {}  # empty: none
        for full, column in list(self.content.items()):
            name, unit = _split_unit(full)
            self._units[full] = unit if unit in UNITS else ""
            for alias in {name, name.lower()} & {name, *USUAL}:  # FX, Time
                if self.content.setdefault(alias, column) is column:  # no other has this name
                    self._units[alias] = unit
        ways = {kind: getattr(columns, kind) for kind in ORIENTATIONS}
        self.orientations = [kind for kind in ways if ways[kind] != getattr(Columns, kind)] or [
            kind for kind in ways if self.content.keys() & ways[kind]]

    def rows(self, names: Sequence[str], size: int, units: Mapping[str, float], usual: str = "",
             finite: bool = False) -> Array:
        """Rows (n, size) in SI units, from a column of each number, or columns of several; units:
        allowed; usual: of names without one; finite: each is a number (raises InvalidData)."""
        for name in names:
            if name not in self.content:
                raise InvalidData(f"{self.what} has no column '{name}' (--columns names them); it "
                                  f"has {self.present}")
            self._rows = self._rows or len(self.content[name])
            if (count := len(self.content[name])) != self._rows:
                raise InvalidData(f"column '{name}' of {self.what} has {count} rows; columns "
                                  f"before it have {self._rows}")
            if self._units[name] not in ("", *units):
                raise InvalidData(f"column '{name}' of {self.what} is in '{self._units[name]}'; "
                                  f"allowed: {', '.join(units)}")
        rows = np.column_stack([units.get(self._units[name] or usual, 1.0) * self.content[name]
                                for name in names])
        if rows.shape[1:] != (size,):
            raise InvalidData(f"{', '.join(names)} of {self.what}: {rows.shape[1]} numbers in a "
                              f"row; {size} are needed (a part of a vector is {names[0]}[0]; an "
                              "orientation of three is rotation_vector or rpy)")
        if finite and not (good := np.isfinite(rows).all(axis=1)).all():
            raise InvalidData(f"{', '.join(names)} of row {int(np.argmin(good)) + 1} of "
                              f"{self.what}: not a number, nor a time as 2026-01-31T12:00:00.5")
        return rows

    def joint_states(self, stamps: np.ndarray, by_efforts: bool) -> JointStates:
        """Joint positions at stamps (n,) [ns], and efforts where they are asked for; joints that
        have numbers for names, and none in an array `names`, have none (raises InvalidData)."""
        self.require_rate(stamps)
        positions = self.columns.joints or self._beginning(POSITIONS)
        q, effort = self.rows(list(positions.values()), len(positions), ANGLES | METRES), None
        if by_efforts:
            efforts = self.columns.efforts or self._beginning(EFFORTS)
            if set(efforts) != set(positions):
                raise InvalidData(f"{self.what} must hold position and torque of each joint; it has"
                                  f" joints {', '.join(positions)}; efforts {', '.join(efforts)}")
            effort = self.rows([efforts[joint] for joint in positions], len(positions), LOADS)
        names = self._joints if all(map(str.isdecimal, positions)) else positions
        return JointStates(stamps, tuple(map(str, names)), q, effort)

    def _beginning(self, words: Sequence[str]) -> dict[str, str]:
        """Columns that begin with one of these words, by what follows in their names."""
        for word, mark in product(words, ("[", ".", "_")):
            if named := {name.removeprefix(word + mark).rstrip("]"): name for name in self.content
                         if name.startswith(word + mark) and _split_unit(name)[0] == name}:
                return named
        raise InvalidData(f"{self.what} has no columns {words[0]}.<joint>, one of each joint "
                          f"(--columns names others, or an orientation); it has {self.present}")

    def orientation(self) -> Rotation:
        """The rotation of each row (raises InvalidData)."""
        if not self.orientations:
            raise InvalidData(f"{self.what} has no orientation, as 'qx': --columns names its "
                              f"columns, or those of joints (with --urdf); it has {self.present}")
        kind = self.orientations[0]
        (make, (low, high)), size = ORIENTATIONS[kind], len(getattr(Columns, kind))
        rows = self.rows(getattr(self.columns, kind), size, ANGLES, finite=True)
        length = np.linalg.norm(rows, axis=1)
        try:
            k = int(np.argmax(np.abs(length - 0.5 * (low + high))))
            if not low <= length[k] <= high:
                raise ValueError(f"row {k + 1} has length {length[k]:.3g}; allowed: {low:.3g} to "
                                 f"{high:.3g} (angles in radians, not degrees)")
            return make(rows)
        except ValueError as error:  # also a matrix that mirrors
            raise InvalidData(f"the {kind} of {self.what} is none: {error}") from error

    def stamps(self) -> np.ndarray:
        """Stamps (n,) [ns], increasing; none without a time and a rate (raises InvalidData)."""
        name = self.columns.time or next((n for n in TIMES if n in self.content), "")
        if name:
            seconds = self.rows([name], 1, SECONDS, self.columns.time_unit, finite=True)[:, 0]
        elif self.columns.rate:
            self._rows = max(map(len, self.content.values()), default=0)
            seconds = np.arange(self._rows) / self.columns.rate
        else:
            return np.empty(0, dtype=np.int64)
        if len(seconds) < 2:
            raise InvalidData(f"{self.what} has {len(seconds)} rows; it needs at least two")
        k = int(np.argmin(np.diff(seconds)))
        if seconds[k + 1] < seconds[k]:
            raise InvalidData(f"column '{name}' of {self.what} falls from {seconds[k]} s to "
                              f"{seconds[k + 1]} s in row {k + 2}; time must not go back")
        first = round(1e9 * float(seconds[0])) + (START if seconds[0] < EARLIEST else 0)
        return first + np.round(1e9 * (seconds - seconds[0])).astype(np.int64)  # no digit is lost

    def require_rate(self, stamps: np.ndarray) -> None:
        """Raise InvalidData where stamps (n,) [ns] of a motion are missing, or too far apart."""
        if not len(stamps):
            raise InvalidData(f"{self.what} has no column of the time ({', '.join(TIMES)}); "
                              f"--columns names it, or the rate (only poses that turn by {STEEP} "
                              f"rad a row need none); it has {self.present}")
        if (period := 1e-9 * np.median(np.diff(stamps))) > SLOWEST:
            raise InvalidData(f"the rows of {self.what} are {period:.4g} s apart; set time_unit ("
                              f"now '{self.columns.time_unit}'), or correct the unit in its name")


def read_motion(path: Path, columns: Columns, settings: Settings) -> Recording:
    """The motion and load in a table, or one pose at rest and its mean wrench a row, stamped a
    second apart (raises RecordingError, InvalidData, InvalidSetting: it cannot be read as such a
    table)."""
    table, urdf = Table(path, columns), settings.robot_description.file
    stamps, by_efforts, rests = table.stamps(), bool(settings.load.robot), False
    samples: dict[str, Samples] = {}
    if by_efforts or columns.joints or (urdf and not table.orientations):
        if not (by_efforts or urdf):
            raise InvalidSetting(f"{table.what} holds joint positions: name the robot with --urdf")
        samples["joint states"] = states = table.joint_states(stamps, by_efforts)
        if len(states.names) != states.positions.shape[1]:
            raise InvalidData(f"{table.what} does not name its joints, as --columns can")
    else:
        turn = table.orientation()
        place: Array = np.zeros(3)
        steep = len(turn) < 2 or np.median((turn[1:] * turn[:-1].inv()).magnitude()) >= STEEP
        rests = steep and (not len(stamps) or columns.time_unit == "s" and
                           np.median(np.diff(stamps)) > SLOWEST * SECOND)
        if rests:
            if not FEWEST_POSES <= len(turn) <= MOST_POSES:
                raise InvalidData(f"{table.what} has {len(turn)} poses at rest; {FEWEST_POSES} to "
                                  f"{MOST_POSES} can be used")
            stamps = START + SECOND * np.arange(len(turn))
        else:
            table.require_rate(stamps)
            if table.content.keys() & set(columns.position):
                place = table.rows(columns.position, 3, METRES, columns.position_unit)
        samples["poses"] = Edges(stamps, "world", columns.frame, np.hstack([
            np.broadcast_to(place, (len(stamps), 3)), turn.as_quat()]))
    if not by_efforts:
        samples["wrench"] = Wrenches(stamps, columns.frame,
                                     table.rows(columns.wrench, 6, LOADS, finite=rests))
    counts = {"poses at rest": len(stamps)} if rests else dict.fromkeys(samples, len(stamps))
    notes = ("each row is taken for a pose at rest, as there is no time, or rows are far apart",)
    return Recording([list(samples.values())], 0.0 if rests else 1e-9 * float(np.ptp(stamps)),
                     counts, notes=notes if rests else (), rests=rests)
