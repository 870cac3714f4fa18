# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Mutations of bytes, of trees of values (YAML, JSON), and of robot descriptions."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import yaml

Rng = np.random.Generator

NUMBERS = ("0", "-1", "1e308", "-1e308", "1e999", "nan", "inf", "-inf", "1e-320", "9" * 400,
           "9" * 5000, "0x10", "1_000", "", "abc", "1 2 3 4", "٣", "1,5", "--1", "\t")
_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63, 10**400, 0.0, -0.0, 1e308, 1e-320, float("nan"),
    float("inf"), -float("inf"), "", " ", "x", "ä\u202e\U0001f4a5", "a" * 100_000, "/" * 5000,
    "../../../../etc/passwd", "/etc", "/dev/zero", "~root", "$(id)", "{}", [], {}, [[]], [None],
    ["a", 1, None], [1e308] * 6, [float("nan")] * 3, {"x": 1}, {1: 2}, [0] * 100_000)
_WORDS = (
    "a: &a [x, x]\nb: &b [*a, *a]\n", "a: &a\n  b: *a\n", "!!python/object/apply:os.system [id]\n",
    "? [a, b]\n: c\n", "- - - -\n", "2001-99-99: 2\n", "x: 2001-99-99\n", "x: !!int abc\n",
    "x: !!binary '*'\n", "x: !!set [a]\n", "x: !!timestamp zz\n", "[" * 3000, "{a: " * 3000,
    "x: 0b\n", "x: 190:20:30\n", "<<: 3\n", "<<: [a, 1]\n", "--- a\n--- b\n", "%YAML 9.9\n---\n",
    "\ufeff", "\x00", "\x07", "x: 0o9\nx: _\n", "x: " + "9" * 5000 + "\n", "\t- x", "x: 'open",
    "x: ._\n", "x: -0b_\n", "x: 0x_\n", "[[1]]: 2\n", "{{a: 1}: 2}\n")


def mutated_bytes(data: bytes, rng: Rng) -> bytes:
    """Between one and eight flips, cuts, insertions, copies, zeros or huge lengths."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        _mutate_bytes(out, rng)
    return bytes(out)


def _mutate_bytes(out: bytearray, rng: Rng) -> None:
    at = int(rng.integers(len(out) + 1))
    run = int(rng.integers(1, max(2, min(4096, len(out)))))
    match int(rng.integers(8)):
        case 0 | 1:
            if at < len(out):
                out[at] ^= 1 << int(rng.integers(8))
        case 2:
            del out[at:at + run]
        case 3:
            out[at:at] = rng.bytes(run)
        case 4:
            out[at:at] = out[at:at + run]
        case 5:
            out[at:at + run] = bytes(min(run, len(out) - at))
        case 6:
            huge = b"\xff" * int(rng.choice([1, 2, 4, 8]))
            out[at:at + len(huge)] = huge
        case _:
            if rng.random() < 0.3:
                del out[at:]


def mutated_tree(tree: Any, rng: Rng) -> Any:
    """One to four places of nested lists and mappings changed: values, types, names, nesting."""
    out = copy.deepcopy(tree)
    for _ in range(int(rng.integers(1, 5))):
        places = list(_places(out))
        if not places:
            return _SCALARS[int(rng.integers(len(_SCALARS)))]
        holder, key = places[int(rng.integers(len(places)))]
        _mutate_place(holder, key, rng)
    return out


def _places(tree: Any) -> Any:
    items = (tree.items() if isinstance(tree, dict) else
             enumerate(tree) if isinstance(tree, list) else ())
    for key, value in list(items):
        yield tree, key
        yield from _places(value)


def _mutate_place(holder: Any, key: Any, rng: Rng) -> None:
    value = holder[key]
    match int(rng.integers(8)):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [value] if rng.random() < 0.5 else {"x": value}
        case 2 if isinstance(holder, dict):
            holder[str(rng.choice(["", "x", "shape", ".", "ros__parameters", "/**"]))] = value
        case 3 if isinstance(value, list):
            holder[key] = value[:-1] if rng.random() < 0.5 else value * 3
        case 4:
            for _ in range(int(rng.choice([10, 300, 900]))):
                value = [value]
            holder[key] = value
        case 5 if isinstance(value, (int, float)):
            holder[key] = value * float(rng.choice([-1.0, 1e6, 1e-9, 1e300]))
        case _:
            holder[key] = copy.deepcopy(_SCALARS[int(rng.integers(len(_SCALARS)))])


def mutated_yaml(tree: Any, rng: Rng) -> bytes:
    """YAML text of a mutated tree, or of the tree with words of YAML put in, or mutated bytes."""
    text = yaml.safe_dump(tree)
    match int(rng.integers(4)):
        case 0:
            return mutated_bytes(text.encode(), rng)
        case 1:
            lines = text.splitlines(keepends=True)
            at = int(rng.integers(len(lines) + 1)) if rng.random() < 0.5 else len(lines)
            word = _bomb() if rng.random() < 0.1 else _WORDS[int(rng.integers(len(_WORDS)))]
            return "".join([*lines[:at], word, *lines[at:]]).encode()
        case _:
            return _dumped(lambda t: yaml.safe_dump(t, allow_unicode=True), tree, rng)


def mutated_json(tree: Any, rng: Rng) -> bytes:
    """JSON text of a mutated tree, with or without its checksum, or mutated bytes of it."""
    if rng.random() < 0.3:
        return mutated_bytes(json.dumps(tree).encode(), rng)
    if rng.random() < 0.7:
        tree = {key: value for key, value in tree.items() if key != "sha256"}
        return _dumped(json.dumps, {**tree, "content": mutated_tree(tree["content"], rng)}, rng)
    return _dumped(json.dumps, tree, rng)


def _dumped(dump: Callable[[Any], str], tree: Any, rng: Rng) -> bytes:
    try:
        return dump(mutated_tree(tree, rng)).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):
        return b"[" * 100_000


def _bomb() -> str:
    """Thirty levels of lists of ten, each naming the one below: small as text, huge if printed."""
    return "wrench:\n  topic: &a0 [x]\n" + "".join(
        f"x{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 30))


def mutated_urdf(text: str, rng: Rng) -> bytes:
    """A robot description with one to three faults, or mutated bytes of it."""
    if rng.random() < 0.15:
        return mutated_bytes(text.encode(), rng)
    for _ in range(int(rng.integers(1, 4))):
        text = _URDF_FAULTS[int(rng.integers(len(_URDF_FAULTS)))](text, rng)
    return text.encode("utf-8", "surrogatepass")


def _replace_one(pattern: str, new: Callable[[re.Match[str]], str]) -> Callable[[str, Rng], str]:
    """A fault that rewrites one of the places where a pattern is found."""

    def fault(text: str, rng: Rng) -> str:
        found = list(re.finditer(pattern, text))
        if not found:
            return text
        match = found[int(rng.integers(len(found)))]
        return text[:match.start()] + new(match) + text[match.end():]

    return fault


def _number(text: str, rng: Rng) -> str:
    """Another number, or what is none, in the place of one."""
    value = NUMBERS[int(rng.integers(len(NUMBERS)))]
    return _replace_one(r'(?<=[" ])-?\d+\.?\d*(?=[" ])', lambda _: value)(text, rng)


def _rename(text: str, rng: Rng) -> str:
    """A link named as another: loops, two parents, two roots."""
    names = re.findall(r'<link name="([^"]*)"', text) or ["x"]
    other = str(rng.choice([*names, "", "world", "no such", "a" * 10_000]))
    return _replace_one(r'(?<=link=")[^"]*|(?<=name=")[^"]*', lambda _: other)(text, rng)


def _kind(text: str, rng: Rng) -> str:
    kind = str(rng.choice(["floating", "planar", "prismatic", "continuous", "fixed", "", "ball"]))
    return _replace_one(r'(?<=type=")[^"]*', lambda _: kind)(text, rng)


def _added(text: str, rng: Rng) -> str:
    """Entities, thousands of links, deep nesting, or odd elements before the end."""
    chain = int(rng.choice([3, 100, 1500, 8000]))
    more = str(rng.choice([
        "<x>" * 20_000 + "</x>" * 20_000, "<x>" * 400 + "</x>" * 400, "<!-- " + "x" * 100_000,
        "".join(f'<link name="l{k}"/><joint name="j{k}" type="revolute"><parent link="'
                f'{f"l{k - 1}" if k else "base_link"}"/><child link="l{k}"/><axis xyz="0 0 1"/>'
                '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
                for k in range(chain)),
        '<link name="a"/><link name="b"/><joint name="ab" type="fixed"><parent link="a"/><child '
        'link="b"/></joint><joint name="ba" type="fixed"><parent link="b"/><child link="a"/>'
        "</joint>", '<joint name="m" type="revolute"><mimic joint="m"/></joint>',
        '<transmission name="t"/><gazebo/><link/><joint/>', "<link name='x'><inertial/></link>",
        '<link name="x"><collision><geometry><mesh filename="package://x/../../etc/passwd"/>'
        "</geometry></collision></link>",
        '<link name="x"><collision><geometry><mesh filename="file:///dev/zero"/></geometry>'
        "</collision></link>"]))
    if rng.random() < 0.2:
        return text.replace("<robot", '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b '
                            '"&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n<robot', 1)
    return text.replace("</robot>", more + "</robot>")


def _mimic(text: str, rng: Rng) -> str:
    """A joint that follows another, itself, or none."""
    names = re.findall(r'<joint name="([^"]*)"', text) or ["x"]
    leader = str(rng.choice([*names, "none"]))
    factor, offset = (NUMBERS[int(rng.integers(len(NUMBERS)))] for _ in range(2))
    line = f'<mimic joint="{leader}" multiplier="{factor}" offset="{offset}"/>'
    return _replace_one(r"(?<=>)(?=\s*</joint>)", lambda _: line)(text, rng)


def _shortened(text: str, rng: Rng) -> str:
    at = int(rng.integers(len(text)))
    return text[:at] + ("" if rng.random() < 0.5 else "</robot>")


_URDF_FAULTS: tuple[Callable[[str, Rng], str], ...] = (
    _number, _number, _number, _rename, _rename, _kind, _added, _shortened,
    _replace_one(r' [a-z]+="[^"]*"', lambda _: ""),
    _replace_one(r"<(joint|link|limit|axis|origin|parent|child|inertia|mass)\b[^>]*/>",
                 lambda _: ""),
    _mimic, _replace_one(r"<joint.*?</joint>", lambda m: m.group() * 2),
    _replace_one(r"<joint[\s\S]*?</joint>", lambda _: ""),
    _replace_one(r"<link[\s\S]*?</link>", lambda _: ""))
