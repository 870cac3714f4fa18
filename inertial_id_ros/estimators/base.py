# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every estimator takes and returns, and how one is made by its name.

An estimator sees the data only through the small triangular factors of a `Problem`. The one named
``lmi`` is the class `Lmi` in ``lmi.py``; another package names its class in the group
``inertial_id_ros.estimators`` of its entry points.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Protocol

from ..errors import InertialIdError, UnknownEstimator
from ..geometry.shape import Shape
from ..inertia import Array
from ..regression.problem import Problem
from ..settings import ESTIMATOR_GROUP, ESTIMATORS, Settings


@dataclass(frozen=True)
class Solution:
    """What an estimator returns.

    Attributes:
        phi: (10,) inertial parameters about the sensor origin.
        bias: (6,) sensor bias in y = A phi + bias.
        prior_information: (10, 10) information about phi that came from a prior, not from data.
        covariance: (10, 10) of phi, where it is not that of data and prior information together.
        prior_covariance: (10, 10) of phi before the data, where rounding spoils the inverse of
            prior_information.
    """

    phi: Array
    bias: Array
    prior_information: Array
    covariance: Array | None = None
    prior_covariance: Array | None = None


class Estimator(Protocol):
    """An estimator: what it needs, what it guarantees, and `solve`.

    Attributes:
        name: as in ``estimator.method``.
        needs_shape: whether it cannot answer without a shape.
        needs_wrench: whether it needs the rows of a wrench, and not their marginal in phi alone.
        keeps_mass_inside: whether no body with mass outside of the shape can be its answer.
        needs_noise: for reports: what of the sensor's noise its answer depends on, or ``no``.
        guarantees_consistency: whether the pseudo-inertia is positive definite, whatever the data.
    """

    name: str
    needs_shape: bool
    needs_wrench: bool
    keeps_mass_inside: bool
    needs_noise: str
    guarantees_consistency: bool

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """Solve the compressed problem.

        Raises:
            NotEnoughData: the data do not determine an answer.
            InvalidShape: a shape is needed and missing.
        """
        ...


_MEMBERS = ("name", "needs_shape", "needs_wrench", "keeps_mass_inside", "needs_noise",
            "guarantees_consistency", "solve")


def estimator_names() -> list[str]:
    """Names of this package's estimators, then of those that other packages bring."""
    return list(dict.fromkeys([*ESTIMATORS, *sorted(e.name for e in _entry_points())]))


def create(settings: Settings, name: str | None = None) -> Estimator:
    """The estimator of that name (default: ``settings.estimator.method``), configured.

    Only its own module is loaded: estimators need libraries that take long to load.

    Raises:
        UnknownEstimator: no such name (the text lists those that exist), or one of another package
            that cannot be used.
    """
    method = settings.estimator.method if name is None else name
    if method in ESTIMATORS:
        module = import_module(f"{__package__}.{method}")
        own: Estimator = getattr(module, method.capitalize())(settings)
        return own
    for entry in _entry_points():
        if entry.name == method:
            return _create_from(entry, settings)
    raise UnknownEstimator(
        f"estimator.method is '{method[:200]}'; allowed: {', '.join(estimator_names())}")


def _entry_points() -> EntryPoints:
    return entry_points(group=ESTIMATOR_GROUP)


def _create_from(entry: EntryPoint, settings: Settings) -> Estimator:
    """The estimator of another package.

    Raises:
        UnknownEstimator: it cannot be loaded, or lacks something.
        InertialIdError: what it raises itself, say, where it refuses the settings.
    """
    place = f"estimator '{entry.name}' ({entry.value})"
    try:
        estimator: Estimator = entry.load()(settings)
    except InertialIdError:
        raise
    except Exception as error:  # whatever another package does
        raise UnknownEstimator(
            f"{place} cannot be loaded: {type(error).__name__}: {error}") from error
    missing = [member for member in _MEMBERS if not hasattr(estimator, member)]
    if missing:
        raise UnknownEstimator(f"{place} has no {', '.join(missing)}")
    return estimator
