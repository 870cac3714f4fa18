"""What a measurement of the load brings to the parts that are the same for all kinds of it.

Contact, changes of payload and moved zeros are found in the residual of a linear model. Whether its
rows are wrenches of a sensor or torques of joints makes no difference to how they are found; what
differs is here.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..inertia import Array
from ..regression.regressor_window import Rows
from ..signals.low_pass import FilteredRows, ZeroPhaseFilter


class Words(NamedTuple):
    """What the findings about one kind of measurement say.

    Attributes:
        contact: a contact that lasts; doubted: nothing explains the load in motion.
        zeroed: the zero moved; lost: the load has not fitted for so long, before the time.
        gap: samples are missing, before the time.
        zeroed_name, gap_name, doubted_name: under which names.
    """

    contact: str
    doubted: str
    zeroed: str
    lost: str
    gap: str
    zeroed_name: str
    gap_name: str
    doubted_name: str


class LoadModel(Protocol):
    """Rows (n, c, k) of c channels, the last column of which is what was measured.

    Attributes:
        words: see there.
        noise: (c,) standard deviation of one sample; floor: (c,) of errors of a row that no filter
            averages out.
        fast: length [s] of the kernel of the detector's rows, at most half of the buffer's.
        groups: channels whose noise is alike.
        bias_sd: (c,) prior standard deviation of their zeros.
        push: channels in which the payload's weight turns with the sensor.
        prior: (s, s) information about all states before the data, the ten parameters first.
        zeros: columns of rows of the channels' zeros; zero_sd: (c,) standard deviation of one that
            has moved: anything.
        zero_lasts: bins for which an offset must last before it is taken for a zero.
        reads_nothing: whether a driver may zero what it measures where it stands.
    """

    words: Words
    noise: Array
    floor: Array
    fast: float
    bias_sd: Array
    groups: tuple[slice, ...]
    push: slice
    prior: Array
    zeros: slice
    zero_sd: Array
    zero_lasts: int
    reads_nothing: bool

    def make_filter(self, length: float) -> ZeroPhaseFilter:
        """A filter [s] of this model's columns of bins."""

    def rows(self, filtered: FilteredRows) -> Rows:
        """Rows for the buffer."""

    def judged(self, filtered: FilteredRows, step: int) -> Rows:
        """Rows for the detector, `step` bins apart, whose `samples` belong to `noise`."""

    def linearisation(self, phi: Array) -> Array:
        """Matrix (k, s + 1) from columns of rows to ``[states | measured]`` at phi (10,)."""

    def acceleration(self, rows: Array) -> Array:
        """Acceleration less gravity (n, 3) in the rows [m/s^2], whose noise may hide the load at
        rest; zeros where it cannot."""

    def motion_noise(self, phi: Array, shaking: Array) -> Array:
        """Covariance (c, c) of what noise of the motion leaves in the residual of a row; shaking:
        covariance (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2]."""

    def unknown_motion(self, rows: Array, phi: Array) -> Array:
        """Covariance (n, c, c) of the load where the motion tells rotation only."""
