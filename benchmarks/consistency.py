# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""No estimator that promises a body may return anything else: ``python benchmarks/consistency.py``.

Random recordings, most of them degenerate: still poses, turning about one axis, hardly any mass, a
wrench of the wrong sign, two samples, point masses, noise that drowns the load. An estimator may
refuse (NotEnoughData, InvalidData); a pseudo-inertia with an eigenvalue that is not positive is a
failure, and so is any other error. Exit status 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test"), str(ROOT / "benchmarks" / "baselines")]

import numpy as np  # noqa: E402
from problems import BIAS_SD, NOISE, box, compress, make_rows, motion, poses, random_phi  # noqa: E402

from inertial_id_ros.errors import InvalidData, NotEnoughData  # noqa: E402
from inertial_id_ros.estimators import Estimator, create, estimator_names  # noqa: E402
from inertial_id_ros.geometry.shape import Shape  # noqa: E402
from inertial_id_ros.inertia import Array, is_consistent, min_eigenvalue  # noqa: E402
from inertial_id_ros.regression.problem import Problem  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

KINDS = ("rich", "still", "one axis", "no mass", "wrong sign", "two samples", "points", "noisy")
VARIANTS: dict[str, list[dict[str, object]]] = {
    "pmd": [{}, {"pmd.form": "squared"}, {"estimator.weighting": "dynamism"}],
    "entropic": [{}, {"entropic.gamma": 8.0}, {"entropic.gamma": 1e-3}],
    "manifold": [{}],
}


def recording(rng: np.random.Generator, kind: str) -> Problem:
    """A random recording of that kind, biases known or not."""
    samples = int(rng.integers(2, 80))
    phi = random_phi(rng, int(rng.integers(1, 9)), 10.0 ** rng.uniform(-2.0, -0.5),
                     rng.uniform(0.0, 0.3)) * 10.0 ** rng.uniform(-1.0, 1.0)
    moving = motion(rng, samples, rng.uniform(0.3, 5.0), 10.0 ** rng.uniform(-1.5, 0.7))
    noise: Array = NOISE * 10.0 ** rng.uniform(-2.0, 0.5)
    if kind == "still":
        moving = poses(rng, int(rng.integers(1, 6)), samples)
    elif kind == "one axis":
        axis = np.eye(3)[rng.integers(3)]
        moving = (moving[0], moving[1] * axis, moving[2] * axis, moving[3])
    elif kind == "no mass":
        phi = phi * rng.choice([0.0, 1e-6, 1e-3])
    elif kind == "wrong sign":
        phi = -phi
    elif kind == "two samples":
        moving = tuple(part[:2] for part in moving)
    elif kind == "points":
        phi = random_phi(rng, int(rng.integers(1, 4)))
    elif kind == "noisy":
        noise = NOISE * 100.0
    known = rng.random() < 0.3
    return compress(make_rows(rng, phi, moving, noise, bias=0.0 if known else rng.normal(size=6)),
                    bias_sd=np.zeros(6) if known else BIAS_SD)


def estimators() -> dict[str, Estimator]:
    """All that promise consistency, with their variants."""
    out = {}
    for name in estimator_names():
        for changes in VARIANTS.get(name, [{}]):
            estimator = create(Settings().replace(changes), name)
            if estimator.guarantees_consistency:
                label = ", ".join([name, *(f"{k.split('.')[1]} {v}" for k, v in changes.items())])
                out[label] = estimator
    return out


def outcome(estimator: Estimator, problem: Problem, shape: Shape | None) -> str:
    """body, refused, or what went wrong."""
    try:
        phi = estimator.solve(problem, shape).phi
    except (NotEnoughData, InvalidData):
        return "refused"
    except Exception as error:  # any other error is what this looks for
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(phi).all():
        return "not finite"
    return "body" if min_eigenvalue(phi) > 0.0 and is_consistent(phi) else "no body"


def main() -> int:
    """Print the table; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="recordings (default 10000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    shapes = [box(), box((0.3, 0.02, 0.02), (0.0, 0.1, 0.0)), box((0.05,) * 3, (0.0, 0.0, 0.4))]
    # One set a shape: an estimator keeps what it made from the last shape.
    sets = [estimators() for _ in shapes]
    counts: dict[tuple[str, str], Counter[str]] = {}
    for k in range(options.count):
        kind = KINDS[k % len(KINDS)]
        problem = recording(rng, kind)
        choice = int(rng.integers(len(shapes)))
        for label, estimator in sets[choice].items():
            shape = shapes[choice] if estimator.needs_shape or rng.random() < 0.5 else None
            counts.setdefault((label, kind), Counter())[outcome(estimator, problem, shape)] += 1
    broken = 0
    print(f"{'bodies / refusals':44s}" + "".join(f"{kind:>12s}" for kind in KINDS))
    for label in sets[0]:
        row = [counts[label, kind] for kind in KINDS]
        print(f"{label:44s}" + "".join(f"{c['body']:>7d}/{c['refused']:<4d}" for c in row))
        for kind, count in zip(KINDS, row, strict=True):
            for what in sorted(set(count) - {"body", "refused"}):
                broken += count[what]
                print(f"    BROKEN ({kind}), {count[what]} times: {what}")
    print(f"{options.count} recordings, {broken} broken promises")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
