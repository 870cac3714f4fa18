# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Estimators of the inertial parameters of one body; each sees the data only as a `Problem`.

The one named ``lmi`` is the class `Lmi` in ``lmi.py``; `Wls` and `Ols` are in `reference_body`.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import NamedTuple, cast

from ..errors import InvalidData, InvalidSetting
from ..geometry.shape import Shape
from ..inertia import Array
from ..model.problem import Problem
from ..settings import Settings


class Solution(NamedTuple):
    """What an estimator returns: inertial parameters phi (10,) about the sensor origin, and their
    covariance (10, 10) by the information of data and prior; found: `near` of a similar problem."""

    phi: Array
    covariance: Array
    found: tuple[Array, ...] = ()


class Estimator(ABC):
    """An estimator, made of settings (raises InvalidSetting): what it needs, and `solve`.

    Attributes:
        settings: in use; needs_shape: True if it cannot answer without a shape.
        needs_wrench: True if it needs to know what a sample of the wrench is, not phi alone.
        needs_noise: True if it cannot answer unless every row is weighed by its noise.
    """

    needs_shape = needs_wrench = needs_noise = False

    def __init__(self, settings: Settings) -> None:
        self.settings, asked = settings, settings.estimator
        if self.needs_noise and asked.weighting != "noise":
            raise InvalidSetting(f"estimator.weighting is '{asked.weighting}'; with "
                                 f"estimator.method '{asked.method}' it must be 'noise'")

    def check(self, shape: Shape | None) -> None:
        """Raises InvalidData where a shape is needed and missing."""
        if self.needs_shape and shape is None:
            raise InvalidData(f"estimator.method '{self.settings.estimator.method}' needs the "
                               "shape of the object; set shape.type, or call set_shape")

    @abstractmethod
    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The most plausible body.

        Raises:
            NotEnoughData: the data do not determine an answer, or no positive mass fits them.
            InvalidData: a shape is needed and missing.
        """


def create(settings: Settings) -> Estimator:
    """The estimator of ``settings.estimator.method``, configured.

    Only its own module is loaded: estimators need libraries that take long to load.
    """
    method = settings.estimator.method
    file = "reference_body" if method in ("ols", "wls") else method
    made = getattr(import_module(f"{__package__}.{file}"), method.capitalize())
    return cast(Estimator, made(settings))
