# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a nuisance state is: a small error of the set-up that is estimated with the payload.

A rotation of one degree and a tilt of half a degree cost more accuracy than any noise, so such
errors are states with priors. An object of `NuisanceState` is all that the package knows of one of
them: name, columns in a stored row, prior, finding. A further one is a subclass in a file of its
own, its setting, and its place in `row_layout.NUISANCE_STATES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..linalg import identity
from ..settings import Settings

_CLEAR = 3.0  # standard deviations from zero from which a value is worth a finding


class RowSignals(NamedTuple):
    """Low-passed signals of r rows, from which the stored columns are computed.

    Attributes:
        number: (r,) bin numbers, which tell the time (see `bins`).
        a, a_rate: regressor and its time derivative (r, 6, 10).
        up_x, up_y: horizontal axes of the gravity frame in sensor axes (r, 3).
        gravity: [m/s^2]; wrench: y (r, 6) [N, N m].
        up: upward axis of the gravity frame in sensor axes (r, 3).
        position: of the sensor in the gravity frame (r, 3) [m]; both None: not stored.
    """

    number: np.ndarray
    a: Array
    a_rate: Array
    up_x: Array
    up_y: Array
    gravity: float
    wrench: Array
    up: Array | None = None
    position: Array | None = None


class NuisanceState(ABC):
    """One kind of error in the set-up, with one or several values.

    A stored row holds `width` columns of it, known when the row arrives. A matrix, which may depend
    on the payload, turns them into one column for each value. A state that multiplies the wrench
    stores multiples of y; one that multiplies the payload stores the factors of phi.

    Attributes:
        name: of the state; components: names of its values.
        width: number of its columns in a stored row.
        finding: name of its finding; noteworthy: values below this are not worth one.
        large: what is quadratic in values above this matters: they are taken out of the samples
            (see `RemovedErrors`), and the state is what remains; too_large: values above this are
            not, since something else must be wrong.
        columns: its place in a stored row; values: its place among the values of all states.
    """

    name: ClassVar[str]
    components: ClassVar[tuple[str, ...]]
    width: ClassVar[int]
    finding: ClassVar[str]
    noteworthy: ClassVar[float]
    large: ClassVar[float] = np.inf
    too_large: ClassVar[float] = np.inf
    columns: slice
    values: slice

    def place(self, first_column: int, first_value: int) -> None:
        """Set its place in a stored row and among the values of all states."""
        self.columns = slice(first_column, first_column + self.width)
        self.values = slice(first_value, first_value + len(self.components))

    @abstractmethod
    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation (n,) of its values about zero; all zero: not estimated."""

    @abstractmethod
    def channel_columns(self, channel: int) -> Sequence[int]:
        """Its columns that are not always zero in rows of a channel (0 to 5: fx .. tz); as many
        for each force, and as many for each torque."""

    @abstractmethod
    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write its columns of stored rows into out (r, 6, width), which holds zeros."""

    def linearise(self, phi: Array) -> Array:
        """Matrix (width, n) from its stored columns to one for each value, at phi (10,).

        It is the identity for a state that stores the columns of its values themselves.
        """
        del phi
        return identity(self.width)

    @abstractmethod
    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """The text of the finding on values (n,) of which some are clearly not zero (n,)."""

    def report(self, values: Array, sigma: Array, log: FindingLog) -> bool:
        """Log a finding where values (n,) with these standard deviations are clearly not zero; says
        whether they are."""
        log.clear(self.finding)
        clear = [s > 0.0 and abs(value) > max(_CLEAR * s, self.noteworthy)
                 for value, s in zip(values.tolist(), sigma.tolist(), strict=True)]
        if any(clear):
            log.set(self.finding, "warning", self.describe(values, clear))
        return any(clear)

    def is_too_large(self, values: Array) -> bool:
        """Whether one of the values (n,) is so large that something else must be wrong."""
        return self.too_large < np.inf and max(map(abs, values.tolist())) > self.too_large

    def join(self, removed: Array, rest: Array) -> Array:
        """Whole values (n,), of which a part was removed from the samples and a rest estimated."""
        return removed + rest

    def correct_wrench(self, wrench: Array, values: Array) -> Array:
        """Remove from wrenches (k, 6) an error that is proportional to them, at values (n,)."""
        del values
        return wrench

    def correct_bias(self, bias: Array, values: Array) -> Array:
        """The reverse for the bias (6,): columns are made of the wrench with its bias in it."""
        del values
        return bias
