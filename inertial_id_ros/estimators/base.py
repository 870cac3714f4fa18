# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every estimator takes and returns, and how one is made by its name.

An estimator sees the data only as a `Problem`. The one named ``lmi`` is the class `Lmi` in
``lmi.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from ..errors import UnknownEstimator
from ..geometry.shape import Shape
from ..inertia import Array
from ..model.problem import Problem
from ..settings import ESTIMATORS, Settings


@dataclass(frozen=True)
class Solution:
    """What an estimator returns.

    Attributes:
        phi: (10,) inertial parameters about the sensor origin.
        prior_information: (10, 10) information about phi that came from a prior, not from data.
        covariance: (10, 10) of phi, where it is not that of data and prior information together.
        prior_covariance: (10, 10) of phi before the data, where rounding spoils the inverse of
            prior_information.
    """

    phi: Array
    prior_information: Array
    covariance: Array | None = None
    prior_covariance: Array | None = None


class Estimator(Protocol):
    """An estimator: what it needs, and `solve`.

    Attributes:
        name: as in ``estimator.method``.
        needs_shape: True if it cannot answer without a shape.
        needs_wrench: True if it needs to know what a sample of the wrench is, not phi alone.
        keeps_mass_inside: True if no body with mass outside of the shape can be its answer.
    """

    name: str
    needs_shape: bool
    needs_wrench: bool
    keeps_mass_inside: bool

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The most plausible body.

        Raises:
            NotEnoughData: the data do not determine an answer.
            InvalidShape: a shape is needed and missing.
        """
        ...


def create(settings: Settings, name: str | None = None) -> Estimator:
    """The estimator of that name (default: ``settings.estimator.method``), configured.

    Only its own module is loaded: estimators need libraries that take long to load.

    Raises:
        UnknownEstimator: no such name; the text lists those that exist.
    """
    method = settings.estimator.method if name is None else name
    if method not in ESTIMATORS:
        raise UnknownEstimator(
            f"estimator.method is '{method[:200]}'; allowed: {', '.join(ESTIMATORS)}")
    module = import_module(f"{__package__}.{'wls' if method == 'ols' else method}")
    estimator: Estimator = getattr(module, method.capitalize())(settings)
    return estimator
