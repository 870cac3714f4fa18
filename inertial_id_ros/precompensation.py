"""The payload that a driver already removes from the wrench it publishes."""

from __future__ import annotations

import numpy as np

from .errors import InvalidSetting
from .inertia import Array, phi_from_body, tensor_from_six
from .row_layout import PARAMETERS
from .settings import Settings


def removed_payload(settings: Settings) -> Array:
    """phi (10,) of that payload in the sensor frame; zero where none is configured.

    Raises:
        InvalidSetting: no body has these values.
    """
    removed = settings.precompensated
    if removed.mass == 0.0:
        if any(removed.com) or any(removed.inertia):
            raise InvalidSetting(
                f"precompensated.mass is 0 kg, but precompensated.com is {list(removed.com)} and "
                f"precompensated.inertia is {list(removed.inertia)}; their payload needs a mass")
        return np.zeros(PARAMETERS)
    tensor = tensor_from_six(removed.inertia)
    if np.linalg.eigvalsh(0.5 * np.trace(tensor) * np.eye(3) - tensor)[0] < -1e-12:
        raise InvalidSetting(f"precompensated.inertia is {list(removed.inertia)} kg m^2; no body "
                             "has it (moments must not be negative, nor one above the other two)")
    return phi_from_body(removed.mass, removed.com, tensor)
