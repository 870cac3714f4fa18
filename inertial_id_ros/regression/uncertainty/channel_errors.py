# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors that belong to one channel, eliminated channel by channel before anything is solved.

A bias that is constant within each slice of the window, of covariance Gamma between slices, takes
``S' (Gamma^-1 + N)^-1 S`` from the products of the rows (Woodbury), where S are the sums of the
rows over the slices and N the samples in them. Gamma^-1 of an Ornstein-Uhlenbeck process is
tridiagonal. What the bias does within a slice is counted as white noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...inertia import Array
from ...linalg import identity
from ..regressor_window import FULL, WindowContent
from ..row_layout import ACCELERATION, STORED
from .walking_bias import Level, Levels, Walk

_TINY = 1e-13  # of a column's sum of squares


class ChannelProducts(NamedTuple):
    """Products of the rows of each channel, less what its walking bias hides.

    Attributes:
        rows: (6, n, n) of linear rows ``[A | states | y]``; accelerations: (6, 3, 3) of the columns
            that errors of the calibration multiply; beside: (6, n, 3) of the two.
        lengths: (6, n) of the columns of the rows.
        sums: (6, n + 3, s) of rows and accelerations over the slices, times samples.
        within: (6,) variance of the noise within slices, where the bias walks too, over that of
            white noise.
        linear: (6 h, n) the rows themselves, and plain: (6, n + 3, n + 3) products of rows and
            accelerations, with all that the bias hides.
    """

    rows: Array
    accelerations: Array
    beside: Array
    lengths: Array
    sums: Array
    within: Array
    linear: Array
    plain: Array

    def with_constant_bias(self) -> ChannelProducts:
        """The products, with all that a walking bias hides."""
        n = self.rows.shape[1]
        return self._replace(rows=self.plain[:, :n, :n], accelerations=self.plain[:, n:, n:],
                             beside=self.plain[:, :n, n:])


def channel_products(window: WindowContent, matrix: Array, levels: Levels) -> ChannelProducts:
    """Products of the rows of a window, linearised.

    Args:
        matrix: (STORED, n) from stored columns to ``[A | states | y]``.
    """
    n = matrix.shape[1]
    wide = np.zeros((STORED, n + 3))
    wide[:, :n] = matrix
    wide[ACCELERATION, n:] = identity(3)
    linear = window.factors[FULL] @ wide
    products = linear.transpose(0, 2, 1) @ linear
    lengths = np.sqrt(products.diagonal(axis1=1, axis2=2)[:, :n])
    sums = wide.T @ window.slices.sums.transpose(1, 2, 0)  # time last, as LAPACK reads it
    plain, within = products, np.ones(len(products))
    walking = [k for k, level in enumerate(levels) if level.walk.variance > 0.0]
    if walking:
        products = products.copy()
        group = slice(3 * walking[0], 3 * walking[-1] + 3)
        within[group] = _take_walks(products[group], sums[group], window,
                                    [levels[k] for k in walking])
    return ChannelProducts(products[:, :n, :n], products[:, n:, n:], products[:, :n, n:], lengths,
                           sums, within, linear[..., :n].reshape(-1, n), plain)


def _take_walks(products: Array, sums: Array, window: WindowContent, levels: list[Level]) -> Array:
    """Weigh products (3 g, k, k) of the rows of groups of three channels by the noise within
    slices, and take from them what their walking biases hide, both in place.

    Args:
        sums: (3 g, k, s) of the rows over slices, times samples; levels: of the g groups.

    Returns:
        (3 g,) the variance of the noise within slices over that of white noise.
    """
    samples = window.slices.samples
    time = np.array([[level.walk.time] for level in levels])
    strength = np.array([[level.walk.variance / level.white**2] for level in levels])
    within = 1.0 + strength * _density_within(time, window)
    diagonal, beside = _inverse_correlation(time, window)
    diagonal = diagonal / strength + samples
    beside = beside / strength
    hidden = sums.copy()
    for k in range(len(levels)):
        part = hidden[3 * k:3 * k + 3].reshape(-1, len(samples)).T
        if len(samples) > 1:
            lapack.dptsv(diagonal[k], beside[k], part, overwrite_b=1)
        else:
            part /= diagonal[k][:, None]
    within = np.repeat(within, 3, axis=0)[:, None]
    seen = sums * ((1.0 - 1.0 / within) / samples)
    seen -= hidden
    products /= within
    products += sums @ seen.transpose(0, 2, 1)
    return np.asarray(within.ravel())


def _density_within(time: Array, window: WindowContent) -> Array:
    """Density of a walk of variance 1 at the lowest frequency that lives within a slice, over that
    of white noise of variance 1 of each sample; time: of the walk's correlation [s]."""
    samples = window.slices.samples
    rate = float(samples.sum()) / len(samples) / window.slice_length
    turn = np.pi * time / window.slice_length
    return 2.0 * time * rate / (1.0 + turn**2)


def walk_covariance(walk: Walk, window: WindowContent) -> Array:
    """Covariance (s, s) of a walk between the slices of a window."""
    time = window.slices.number * window.slice_length
    return np.asarray(walk.variance * np.exp(-np.abs(time[:, None] - time) / walk.time))


def _inverse_correlation(time: Array, window: WindowContent) -> tuple[Array, Array]:
    """Diagonals (g, s) of the inverse correlations of walks between slices, and those beside them.

    Args:
        time: (g, 1) of their correlation [s].
    """
    number = window.slices.number
    kept = np.exp((number[:-1] - number[1:]) * window.slice_length / time)
    lost = 1.0 - kept**2
    more = kept**2 / lost
    diagonal = np.ones((len(time), len(number)))
    diagonal[:, 1:] += more
    diagonal[:, :-1] += more
    return diagonal, -kept / lost


class LinearRows(NamedTuple):
    """Linear rows without the errors of their channels.

    Attributes:
        products: (6, n, n) of the rows that are left; probable: (6, 3, n) errors per acceleration
            that are the most probable for each column.
        lengths: (6, n) of the columns before anything was taken out of the products.
    """

    products: Array
    probable: Array
    lengths: Array

    @property
    def rows(self) -> Array:
        """Triangular rows (6 n, n), not whitened, with these products."""
        scale = 1.0 / np.where(self.lengths > 0.0, self.lengths, 1.0)
        scaled = self.products * scale[:, :, None] * scale[:, None, :]
        scaled += _TINY * identity(scaled.shape[1])
        upper = np.linalg.cholesky(scaled).transpose(0, 2, 1) * self.lengths[:, None, :]
        return np.asarray(upper.reshape(-1, upper.shape[2]))

    def whitened_products(self, noise: Array) -> Array:
        """Products (n, n) of the rows, whitened by the noise (6,) of their channels."""
        n = self.products.shape[1]
        weight = noise**-2.0
        out = (weight @ self.products.reshape(len(noise), -1)).reshape(n, n)
        out.ravel()[::n + 1] += _TINY * (weight @ self.lengths**2)
        return np.asarray(out)

    def sums(self, products: ChannelProducts) -> Array:
        """Sums (6, n, s) of the rows over the slices of the window that the products are of, times
        samples."""
        n = self.probable.shape[2]
        return np.asarray(products.sums[:, :n]
                          - self.probable.transpose(0, 2, 1) @ products.sums[:, n:])

    def means(self, products: ChannelProducts, window: WindowContent) -> Array:
        """Means (6, s, n) of the same rows over the slices."""
        means = self.sums(products) / window.slices.samples
        return np.ascontiguousarray(means.transpose(0, 2, 1))


def eliminate_calibration(products: ChannelProducts, variance: Array,
                          covariance: Array) -> LinearRows:
    """Eliminate the errors of the calibration.

    Args:
        variance: (6,) of white noise; covariance: (6, 3, 3) of what each channel reads per
            acceleration too much.
    """
    inner = covariance @ products.accelerations
    inner.reshape(len(inner), -1)[:, ::4] += variance[:, None]
    probable = np.linalg.solve(inner, covariance @ products.beside.transpose(0, 2, 1))
    return LinearRows(products.rows - products.beside @ probable, probable, products.lengths)
