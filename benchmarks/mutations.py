"""A thousand damaged inputs: ``python benchmarks/mutations.py [--cases 1000] [--first 0]``.

Recordings (MCAP and SQLite), their metadata, robot descriptions, settings and tool files are
mutated at random: bytes flipped, cut out, doubled, inserted, cut off; numbers and words replaced by
nasty ones. `identify_bag` must answer each with a correct run (exit status 0 or 1) or with one
sentence (2, ``error: ...``); never with a traceback, never with a crash, never after more than
the time limit. Case k is made from seed k, so that any one can be run again.

Cases run in a child process, which is replaced when it dies; every 25th runs as a program of its
own. Exit status 1 if any case failed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

import numpy as np

KINDS = ("mcap", "sqlite3", "metadata", "urdf", "yaml", "tool")
LIMIT = 60.0  # s for one case
MEMORY = 6_000_000_000  # bytes of address space
_OWN_PROGRAM = 25
_LONGEST = 2000  # characters of a sentence
NASTY = ("", "nan", ".nan", "-.inf", "1e400", "-1", "0", "99999999999999999999", "1e-320", "true",
         "null", "~", "[]", "{}", "[[[[", "]", "&a [*a, *a]", "*a", "!!python/object:os.system x",
         "!!binary ZZ", "2001-99-99", "1:2:3", "0x", "0o9", "'", '"', "\x00", "\ud7ff", "é" * 50,
         "A" * 100_000, "9" * 10_000, "../../etc/passwd", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "&amp;",
         "&#0;", "<a>", "</robot>", "<![CDATA[", "%s%n", "\r\n\t", "<<: *a", "? ", "---\n---",
         "%YAML 9.9", "@", "`", "- - -", "[" * 3000, "<a>" * 3000)


class Result(NamedTuple):
    """What became of a case: its kind, ``ok`` or what is wrong, exit status, and what was said."""

    kind: str
    verdict: str
    status: int
    said: str


def make_originals(folder: Path) -> None:
    """Sound files, from which the mutants are made."""
    import bags
    import yaml

    from inertial_id_ros.bag.identify_bag import main

    bags.tf_bag(folder / "mcap", duration=1.5)
    bags.joint_bag(folder / "sqlite3", duration=1.5, rate=100.0, storage="sqlite3")
    (folder / "robot.urdf").write_text(bags.URDF)
    (folder / "settings.yaml").write_text(yaml.safe_dump({"/**": {"ros__parameters": {
        "wrench": {"topic": "/wrench", "convention": "on_sensor", "force_noise": 0.1},
        "estimator": {"method": "density", "rate": 4.0, "estimate_bias": True},
        "lmi": {"epsilon": 1e-5},
        "shape": {"type": "box", "size": [0.2, 0.2, 0.3], "center": [0.0, 0.0, 0.08]},
        "buffer": {"window": 1.2}, "pmd.points": 50}}}))
    with contextlib.redirect_stdout(io.StringIO()):
        main([str(folder / "mcap"), "--save-tool", str(folder / "tool.json")])


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """One to eight random changes of a file."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        size = len(out)
        at = int(rng.integers(size + 1))
        length = int(min(size - at, rng.integers(1, 2 + int(10.0 ** rng.uniform(0.0, 4.0)))))
        action = rng.integers(7)
        if action == 0 and at < size:
            out[at] ^= 1 << int(rng.integers(8))
        elif action == 1 and at < size:
            out[at] = int(rng.integers(256))
        elif action == 2:
            del out[at:at + length]
        elif action == 3:
            out[at:at] = out[at:at + length]
        elif action == 4:
            out[at:at] = rng.bytes(int(rng.integers(1, 64)))
        elif action == 5:
            out[at:at + 8] = rng.choice([b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7,
                                         b"\xff\xff\xff\x7f" * 2])
        elif rng.random() < 0.2:
            del out[at:]
    return bytes(out)


def mutate_text(data: bytes, rng: np.random.Generator) -> bytes:
    """One to four numbers, words or lines replaced, swapped or repeated; sometimes bytes, too."""
    text = data.decode()
    for _ in range(int(rng.integers(1, 5))):
        words = [m.span() for m in re.finditer(r"[\w.+-]+|[<>\[\]{}:,\"/=]", text)]
        low, high = words[int(rng.integers(len(words)))] if words else (0, 0)
        nasty = NASTY[int(rng.integers(len(NASTY)))]
        action = rng.integers(5)
        if action <= 1:
            text = text[:low] + nasty + text[high:]
        elif action == 2 and words:
            other = words[int(rng.integers(len(words)))]
            text = text[:low] + text[other[0]:other[1]] + text[high:]
        elif action == 3:
            lines = text.splitlines()
            k = int(rng.integers(len(lines)))
            lines[k:k] = [lines[int(rng.integers(len(lines)))]] * int(rng.integers(1, 4))
            text = "\n".join(lines)
        else:
            text = text[:low] + nasty + text[low:]
        if not text.strip():
            break
    out = text.encode("utf-8", "replace")
    return mutate(out, rng) if rng.random() < 0.2 else out


def mutate_messages(bag: Path, rng: np.random.Generator) -> None:
    """A sound recording with some damaged messages: numbers, strings and lengths in them."""
    from rosbags.rosbag2 import Reader, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    whole = bag.with_name("whole")
    bag.rename(whole)
    plugin = StoragePlugin.MCAP if list(whole.glob("*.mcap")) else StoragePlugin.SQLITE3
    share = 10.0 ** rng.uniform(-3.0, 0.0)
    with Reader(whole) as reader, Writer(bag, version=9, storage_plugin=plugin) as writer:
        store = get_typestore(Stores.ROS2_JAZZY)
        made = {c.id: writer.add_connection(c.topic, c.msgtype, typestore=store)
                for c in reader.connections}
        shift = 0
        for connection, stamp, data in reader.messages():
            if rng.random() < share:
                data = mutate_values(data, rng)
            if rng.random() < 1e-3:
                shift += int(rng.normal() * 10.0 ** rng.uniform(6.0, 18.0))
            for _ in range(int(rng.choice([0, 1, 2], p=[0.01, 0.98, 0.01]))):
                writer.write(made[connection.id], min(max(stamp + shift, 0), 2**63 - 1), data)
    shutil.rmtree(whole)


def mutate_values(data: bytes, rng: np.random.Generator) -> bytes:
    """A serialised message with one aligned word replaced, or cut off."""
    out = bytearray(data)
    if rng.random() < 0.1:
        return bytes(out[:int(rng.integers(len(out) + 1))])
    width = int(rng.choice([1, 4, 8]))
    at = 4 + width * int(rng.integers(max(1, (len(out) - 4) // width)))
    word = rng.choice([b"\x00" * 8, b"\xff" * 8, b"\xff\xff\xff\x7f" * 2, b"\x00" * 6 + b"\xf0\x7f",
                       b"\x00" * 6 + b"\xf8\x7f", rng.bytes(8)])
    out[at:at + width] = bytes(word)[-width:]
    return bytes(out[:len(data)])


def mutate_value(data: bytes, rng: np.random.Generator) -> bytes:
    """One or two values (after a colon, or in quotes) replaced by nasty ones of one line."""
    text = data.decode()
    for _ in range(int(rng.integers(1, 3))):
        places = [m.span(1) for m in re.finditer(r'(?:: |- |")([^\s"<>{}\[\]:]+)', text)]
        low, high = places[int(rng.integers(len(places)))]
        nasty = NASTY[int(rng.integers(len(NASTY)))]
        if rng.random() < 0.5:
            nasty = f"{rng.normal() * 10.0 ** rng.uniform(-20.0, 20.0):g}"
        text = text[:low] + nasty.replace("\n", " ") + text[high:]
    return text.encode("utf-8", "replace")


def prepare(seed: int, originals: Path, folder: Path) -> tuple[str, list[str]]:
    """Files of a case in an empty folder; its kind and the command line."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    storage = kind if kind in ("mcap", "sqlite3") else rng.choice(["mcap", "sqlite3"])
    if kind == "urdf":
        storage = "sqlite3"
    bag = folder / "bag"
    shutil.copytree(originals / storage, bag)
    (file,) = [f for f in bag.iterdir() if f.suffix in (".mcap", ".db3")]
    words = [str(bag)]
    light = rng.random() < 0.6  # a sound frame around damaged values gets farther in
    if kind in ("mcap", "sqlite3"):
        if light:
            mutate_messages(bag, rng)
            (file,) = [f for f in bag.iterdir() if f.suffix in (".mcap", ".db3")]
        else:
            file.write_bytes(mutate(file.read_bytes(), rng))
        if rng.random() < 0.3:
            words = [str(file)]
    elif kind == "metadata":
        path = bag / "metadata.yaml"
        change = mutate_value if light else mutate_text
        path.write_bytes(change(path.read_bytes(), rng))
    else:
        name, option = {"urdf": ("robot.urdf", "--urdf"), "yaml": ("settings.yaml", "--config"),
                        "tool": ("tool.json", "--tool")}[kind]
        path = folder / name
        sound = (originals / name).read_bytes()
        if kind == "tool" and light:  # else the checksum refuses nearly all
            sound = re.sub(rb'"sha256": "\w+",', b"", sound)
        path.write_bytes((mutate_value if light else mutate_text)(sound, rng))
        words += [option, str(path)]
    if rng.random() < 0.3:
        words += ["--json", str(folder / "out.json")]
    return kind, words


def judge(status: int, out: str, err: str, folder: Path) -> str:
    """``ok``, or what is wrong with an answer."""
    if "Traceback" in out + err:
        return "traceback"
    if status not in (0, 1, 2):
        return f"exit status {status}"
    if status == 2 and not re.fullmatch(r"error: [^\n]+\n", err):
        return "no single sentence"
    if len(err) > _LONGEST:
        return f"a sentence of {len(err)} characters"
    if status < 2 and err and not err.startswith("No valid"):
        return "words on the error stream"
    result = folder / "out.json"
    if status == 0 and result.exists() and not json.loads(result.read_text())["mass"] > 0.0:
        return "impossible mass"
    return "ok"


def run_here(words: list[str]) -> tuple[int, str, str]:
    """Exit status, output and errors of the tool in this process."""
    from inertial_id_ros.bag.identify_bag import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
            warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            status = main(words)
        except SystemExit as error:
            status = int(error.code or 0)
        except BaseException:  # what a user would see
            traceback.print_exc()
            status = 3
    return status, out.getvalue(), err.getvalue()


def run_program(words: list[str]) -> tuple[int, str, str]:
    """As `run_here`, as a program of its own."""
    done = subprocess.run([sys.executable, "-m", "inertial_id_ros.bag.identify_bag", *words],
                          cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout, done.stderr


def run_case(seed: int, originals: Path, own_program: bool = False) -> Result:
    """Make, run and judge one case."""
    with tempfile.TemporaryDirectory() as name:
        kind, words = prepare(seed, originals, Path(name))
        status, out, err = run_program(words) if own_program else run_here(words)
        verdict = judge(status, out, err, Path(name))
    return Result(kind, verdict, status, err[-2000:].strip())


def child(first: int, end: int, step: int, originals: Path) -> None:
    """Run cases and print one line for each; the parent watches."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries in C print there
    for seed in range(first, end, step):
        result = run_case(seed, originals, seed % _OWN_PROGRAM == 0)
        report.write(json.dumps([seed, *result]) + "\n")
        report.flush()


def campaign(first: int, end: int, originals: Path) -> dict[int, tuple[Result, float]]:
    """Results and times [s] of all cases."""
    results: dict[int, tuple[Result, float]] = {}
    while first < end:
        process = subprocess.Popen(
            [sys.executable, __file__, "--child", str(first), str(end), str(originals)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None and process.stderr is not None
        os.set_blocking(process.stderr.fileno(), False)
        while first < end:
            begin = time.monotonic()
            ready, _, _ = select.select([process.stdout], [], [], LIMIT)
            line = process.stdout.readline() if ready else b""
            if not line:
                process.kill()
                noise = (process.stderr.read() or b"").decode(errors="replace")[-2000:]
                word = "crash" if ready else "hang"
                results[first] = (Result(KINDS[first % len(KINDS)], word, process.wait(), noise),
                                  time.monotonic() - begin)
                first += 1
                break
            seed, *fields = json.loads(line)
            results[seed] = (Result(*fields), time.monotonic() - begin)
            first = seed + 1
        process.kill()
        process.wait()
    return results


def main() -> int:
    """Run the campaign and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(int(args.child[0]), int(args.child[1]), 1, Path(args.child[2]))
        return 0
    with tempfile.TemporaryDirectory() as name:
        make_originals(Path(name))
        results = campaign(args.first, args.first + args.cases, Path(name))
    print(f"{'kind':10} {'cases':>6} {'ran':>6} {'refused':>8} {'failed':>7} {'longest s':>10}")
    for kind in KINDS:
        own = [(r, t) for r, t in results.values() if r.kind == kind]
        count = Counter("failed" if r.verdict != "ok" else "refused" if r.status == 2 else "ran"
                        for r, _ in own)
        longest = max((t for _, t in own), default=0.0)
        print(f"{kind:10} {len(own):6} {count['ran']:6} {count['refused']:8} "
              f"{count['failed']:7} {longest:10.2f}")
    bad = {seed: r for seed, (r, _) in results.items() if r.verdict != "ok"}
    for seed, r in bad.items():
        print(f"case {seed} ({r.kind}): {r.verdict}, exit status {r.status}: {r.said[-600:]}")
    print(f"{len(results)} cases, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
