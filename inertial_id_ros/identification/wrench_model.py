"""The load as a wrist sensor measures it: three forces and three torques."""

from __future__ import annotations

import numpy as np

from ..detection.load_model import DisturbanceTexts
from ..inertia import PARAMETERS, Array, skew
from ..regression.alignment import prior_sd
from ..regression.encoder_noise import in_residual
from ..regression.regressor_window import Rows
from ..regression.row_layout import BIAS, BIASES, linearisation
from ..regression.rows import buffer_rows, make_filter
from ..regression.unconstrained_fit import vague_information
from ..settings import Settings
from ..signals.bins import BIN_NS
from ..signals.low_pass import FilteredRows, ZeroPhaseFilter

FORCE, TORQUE = slice(0, 3), slice(3, 6)
_LEVER = 0.3  # m; from the sensor to the centre it turns about, where TF does not tell
_ZERO_SD = np.repeat([200.0, 20.0], 3)  # N, N m: anything
_FLOOR = 1.0  # data-sheet standard deviations of one sample: errors that no filter averages out
_LASTS = round(1e9 / BIN_NS)  # bins; a push that turns with the sensor does not last as long
_TEXTS = DisturbanceTexts(
    contact="contact: the wrench does not fit the estimate and is left out",
    doubted="no payload explains the wrench while the sensor turns: contact that lasts, or a wrong "
    "sensor or gravity frame, whose rotation may be transposed",
    zeroed="the sensor was zeroed, or its driver restarted",
    lost="the wrench did not fit the estimate for",
    gap="gaps in wrench or motion of more than",
    zeroed_name="sensor_zeroed", gap_name="wrench_gap", doubted_name="frame_wrong_suspected")


class WrenchModel:
    """See `LoadModel`.

    Args:
        noise: (6,) data-sheet noise of one sample [N, N m]; bias_sd: (6,) prior standard deviation
            of the biases; alignment_sd: (6,) of the alignment states, zero for those that are not
            estimated; gravity: [m/s^2].
    """

    texts, detector_kernel = _TEXTS, 0.2
    groups: tuple[slice, ...] = (FORCE, TORQUE)
    weight_channels = FORCE
    zero_columns, zero_sd = BIAS, _ZERO_SD
    shortest_zero, zeroed_under_load = _LASTS, True

    def __init__(self, noise: Array, bias_sd: Array, alignment_sd: Array, gravity: float) -> None:
        self.noise, self.floor, self.bias_sd = noise, _FLOOR * noise, bias_sd
        self._gravity = gravity
        self._states = np.flatnonzero(alignment_sd)
        rest = np.r_[bias_sd, alignment_sd[self._states]]
        count = PARAMETERS + BIASES + len(self._states)
        self.prior: Array = np.zeros((count, count))
        self.prior[:PARAMETERS, :PARAMETERS] = vague_information(1.0)
        self.prior[PARAMETERS:, PARAMETERS:] = np.diag(rest**-2.0)

    def make_filter(self, length: float) -> ZeroPhaseFilter:
        """See `LoadModel`."""
        return make_filter(length)

    def make_rows(self, filtered: FilteredRows) -> Rows:
        """See `LoadModel`."""
        return buffer_rows(filtered, self._gravity)

    def make_detector_rows(self, filtered: FilteredRows, step: int) -> Rows:
        """See `LoadModel`."""
        del step
        return self.make_rows(filtered)

    def linearise(self, phi: Array) -> Array:
        """See `LoadModel`."""
        return linearisation(phi, self._states)

    def acceleration(self, rows: Array) -> Array:
        """See `LoadModel`."""
        return rows[:, FORCE, 0]

    def motion_noise_covariance(self, phi: Array, acceleration_covariance: Array) -> Array:
        """See `LoadModel`."""
        return in_residual(phi, acceleration_covariance)

    def unknown_motion_covariance(self, rows: Array, phi: Array) -> Array:
        """The sensor turns about a centre that is not known."""
        turn = rows[:, FORCE, 1:4]  # [alpha]x + [omega]x^2
        lever = np.concatenate([phi[0] * np.eye(3), skew(phi[1:4])])
        force = lever @ turn
        return np.asarray(_LEVER**2 * force @ force.transpose(0, 2, 1))


def wrench_model(settings: Settings, noise: Array) -> WrenchModel:
    """The model of the settings; noise: (6,) of one sample."""
    wrench = settings.wrench
    return WrenchModel(noise, np.repeat([wrench.force_bias_sd, wrench.torque_bias_sd], 3),
                       prior_sd(settings.alignment), settings.gravity.acceleration)
