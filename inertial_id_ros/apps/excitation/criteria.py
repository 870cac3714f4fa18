# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What counts as gain of a motion: information in all, or errors of torques to be predicted.

Both start from ``I + F'F``: the information about parameters in units of what is known before the
motion, with F the whitened rows of all samples. Both are in nats: where the standard deviations of
all c parameters fall by a factor e, the gain is c.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...inertia import Array


class Criterion(Protocol):
    """A gain of rows (n, r, c) that stand for a number of samples, and its slopes."""

    def gain(self, rows: Array, samples: float) -> float:
        """The gain [nats]; more is better."""
        ...

    def slopes(self, rows: Array, samples: float) -> Array:
        """Derivatives (n, r, c) of the gain with respect to the rows."""
        ...


class InformationGain:
    """``1/2 log det(I + F'F)``: D-optimality with a prior, so that a direction that the motion
    cannot show does not make it minus infinity."""

    def gain(self, rows: Array, samples: float) -> float:
        """Information gain [nats]."""
        return 0.5 * float(np.linalg.slogdet(_information(rows, samples))[1])

    def slopes(self, rows: Array, samples: float) -> Array:
        """Derivatives (n, r, c) of the gain."""
        flat = rows.reshape(-1, rows.shape[2])
        weight = samples / len(rows)
        return weight * np.linalg.solve(_information(rows, samples), flat.T).T.reshape(rows.shape)


INFORMATION = InformationGain()


class TorqueVariance:
    """``c/2 log(tr M / tr(M (I + F'F)^-1))``: V-optimality, the mean variance of torques that are
    predicted on target motions.

    Args:
        targets: (n, r, c) rows of those torques [N m] for parameters in the units that F has: M is
            the mean of their products, so that ``tr(M covariance)`` is the mean variance.
    """

    def __init__(self, targets: Array) -> None:
        flat = targets.reshape(-1, targets.shape[2])
        self._wanted = flat.T @ flat / len(flat)

    def error(self, rows: Array, samples: float) -> float:
        """Root mean square [N m] of the errors of predicted torques after a motion."""
        return float(np.sqrt(np.trace(self._solve(rows, samples, self._wanted))))

    def gain(self, rows: Array, samples: float) -> float:
        """Fall of the errors [nats], times the number of parameters."""
        before = float(np.trace(self._wanted))
        after = float(np.trace(self._solve(rows, samples, self._wanted)))
        return 0.5 * rows.shape[2] * float(np.log(before / after))

    def slopes(self, rows: Array, samples: float) -> Array:
        """Derivatives (n, r, c) of the gain."""
        flat = rows.reshape(-1, rows.shape[2])
        half = self._solve(rows, samples, self._wanted)
        both = self._solve(rows, samples, half.T)
        weight = samples / len(rows) * rows.shape[2] / float(np.trace(half))
        return weight * (flat @ both).reshape(rows.shape)

    @staticmethod
    def _solve(rows: Array, samples: float, right: Array) -> Array:
        """(I + F'F)^-1 right."""
        return np.asarray(np.linalg.solve(_information(rows, samples), right))


def _information(rows: Array, samples: float) -> Array:
    """Information matrix (c, c) of rows that stand for a number of samples, prior included."""
    flat = rows.reshape(-1, rows.shape[2])
    return np.eye(flat.shape[1]) + samples / len(rows) * flat.T @ flat
