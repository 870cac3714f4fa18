# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor frame from TF alone, where there is no robot description."""

from __future__ import annotations

import numpy as np

from ..errors import UnknownFrame
from ..inertia import Array
from .causal.pose_filter import chain_of
from .frozen_positions import Frozen, FrozenPositions
from .motion import Motion
from .polynomial import (
    FEW,
    Spacing,
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    is_too_slow,
    measure_spacing,
)
from .transform_tree import PoseSeries, TransformTree

_WIDTH = 7  # numbers of a transform
_SETTLE = 20  # transforms after which the period, and with it the window, is taken as known


class TfMotion:
    """Sensor motion by a local quartic through poses.

    Args:
        tree: transforms; grows while they arrive.
        sensor_frame: frame of the wrench.
        gravity_frame: frame whose z axis points up; empty: the root above the sensor frame.
        gravity: magnitude [m/s^2]; window: requested length of the quartics [s].

    Attributes:
        world: the frame of gravity.
        edges: child frames of the moving transforms between world and sensor; chain: all edges
            between them.
        window: length of the quartics [s]; None until the rate of the transforms is known.
    """

    def __init__(self, tree: TransformTree, sensor_frame: str, gravity_frame: str,
                 gravity: float, window: float) -> None:
        self._tree = tree
        self._sensor = sensor_frame
        self._gravity_frame = gravity_frame
        self.world = gravity_frame or tree.ancestors(sensor_frame)[-1]
        self.edges = tree.moving_edges(self.world, sensor_frame)
        self._fixed = tree.static_edges(self.world, sensor_frame)
        self._gravity = gravity
        self._requested_window = window
        self.chain = chain_of(tree, self.world, sensor_frame, gravity)
        self.window: float | None = None
        self._spacing: Spacing | None = None
        self._turned = self._shifted = False
        self._frozen = {edge: FrozenPositions(_WIDTH) for edge in self.edges}

    @property
    def rotation_only(self) -> bool:
        """Whether the sensor has turned and never changed its place."""
        return self._turned and not self._shifted

    def is_current(self) -> bool:
        """Whether the tree still leads from world to sensor over the same edges."""
        try:
            world = self._gravity_frame or self._tree.ancestors(self._sensor)[-1]
            edges = self._tree.moving_edges(world, self._sensor)
            fixed = self._tree.static_edges(world, self._sensor)
        except UnknownFrame:
            return False
        return (world == self.world and edges == self.edges
                and [f[:2] for f in fixed] == [f[:2] for f in self._fixed]
                and all(a[2].equals(b[2]) for a, b in zip(fixed, self._fixed, strict=True)))

    def newest(self) -> int | None:
        """Newest stamp [ns] that all moving transforms have reached."""
        rings = [self._tree.ring(e) for e in self.edges]
        return min(r.newest for r in rings) if rings and all(map(len, rings)) else None

    def settled_until(self) -> int | None:
        """Newest time [ns] with half a window of transforms after it."""
        if self.window is None:
            rings = [self._tree.ring(e) for e in self.edges]
            if not rings or min(map(len, rings)) < _SETTLE:
                return None
            self._spacing = self._measure_spacing()
            self.window = choose_window(self._spacing, self._requested_window)
        newest = self.newest()
        if newest is None:
            return None
        frozen = [f.lasting.first for f in self._frozen.values() if f.lasting is not None]
        return min([newest, *frozen]) - int(0.5e9 * self.window)

    def judge_poses(self) -> list[str]:
        """Judge the transforms that came since the last call, since a frozen one gives no motion;
        says which were frozen until then."""
        return [f"transform to '{edge}'" for edge, positions in self._frozen.items()
                if positions.judge(self._tree.ring(edge))]

    @property
    def frozen(self) -> Frozen | None:
        """The transform that is frozen; None: there is none."""
        for edge, positions in self._frozen.items():
            if positions.lasting is not None:
                return Frozen(f"transform to '{edge}'", positions.lasting.why)
        return None

    def _measure_spacing(self) -> Spacing:
        """That of the moving transform that comes most slowly."""
        return max((measure_spacing(self._tree.ring(e).stamps[:_SETTLE]) for e in self.edges),
                   key=max)

    def too_slow(self) -> Spacing | None:
        """The spacing of the transforms if they come too slowly for accelerations."""
        if not self.edges or min(len(self._tree.ring(e)) for e in self.edges) < FEW:
            return None
        spacing = self._spacing or self._measure_spacing()
        window = choose_window(spacing, self._requested_window)
        return spacing if is_too_slow(spacing, window) else None

    def close(self, until_ns: int) -> None:
        """Count transforms that come from now on with stamps up to half a window before that time
        [ns] as late."""
        for edge in self.edges:
            ring = self._tree.ring(edge)
            ring.closed_until = max(ring.closed_until, until_ns - int(0.5e9 * (self.window or 0)))

    provisional_ns = 0  # poses of any rate: their quartics are not worth a one-sided answer

    def provisional_motion(self, stamps: np.ndarray, end_ns: int) -> Motion:
        """Nowhere valid, as `provisional_ns` says."""
        return self._unknown(len(stamps))

    def motion_at(self, stamps: np.ndarray) -> Motion:
        """Motion at stamps (n,) [ns]; `settled_until` must have answered before."""
        assert self.window is not None
        reach = int(0.5e9 * self.window) + 1
        series = self._tree.series(self.world, self._sensor,
                                   int(stamps[0]) - reach, int(stamps[-1]) + reach)
        if len(series.stamps) == 0:
            return self._unknown(len(stamps))
        self._turned |= bool(np.ptp(series.rotation, axis=0).any())
        self._shifted |= bool(np.ptp(series.translation, axis=0).any())
        index, u, weights = gather_samples(series.stamps, stamps, self.window)
        valid = has_coverage(u, weights)
        for positions in self._frozen.values():
            valid &= ~positions.mask(stamps, reach)
        return self._smooth(series, index, u, weights, valid)

    def _unknown(self, n: int) -> Motion:
        """A motion at n times that is nowhere valid."""
        zero = np.zeros((n, 3))
        still = np.broadcast_to(np.eye(3), (n, 3, 3))
        return Motion(still, self._gravity, zero, zero, zero, np.zeros(n, dtype=bool), zero)

    def _smooth(self, series: PoseSeries, index: Array, u: Array, weights: Array,
                valid: np.ndarray) -> Motion:
        """Quartics through position and through the rotation vector about the wanted time."""
        from scipy.spatial.transform import Rotation  # loads slowly; joint states do without

        assert self.window is not None
        n, width = index.shape
        nearest = index[np.arange(n), np.where(weights > 0.0, np.abs(u), np.inf).argmin(axis=1)]
        turn = series.rotation[nearest]
        samples = series.rotation[index]
        # Twice: the second pass expands about the smoothed orientation itself, where rotation
        # vector rates are the angular velocity and acceleration exactly.
        for _ in range(2):
            relative = turn.transpose(0, 2, 1)[:, None] @ samples
            vectors = Rotation.from_matrix(relative.reshape(-1, 3, 3)).as_rotvec()
            value, omega, alpha = fit_quartics(
                u, weights, vectors.reshape(n, width, 3), self.window)
            turn = turn @ Rotation.from_rotvec(value).as_matrix()
        place, _, acceleration = fit_quartics(u, weights, series.translation[index], self.window)
        return Motion(turn, self._gravity, np.einsum("nji,nj->ni", turn, acceleration),
                      omega, alpha, valid, place)
