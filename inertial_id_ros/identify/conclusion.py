# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an estimate says to those who judge the next samples by it, and to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compensation.latch import WindowSays
from ..detect.contradictions import Reason
from ..estimate import Outcome
from ..estimators import Estimator
from ..explain.explain import Explanation
from ..explain.torques import TorqueExplanation
from ..settings import Settings
from .beliefs import Beliefs


@dataclass(frozen=True, eq=False)
class Basis:
    """What estimates follow from beside the samples; replaced as a whole.

    Attributes:
        frame: of the wrench; empty until known.
    """

    settings: Settings
    beliefs: Beliefs
    estimator: Estimator
    frame: str = ""


Explained = Explanation | TorqueExplanation


class Conclusion(NamedTuple):
    """Attributes: outcome: for whoever asks; explained: the wrench of the window, None where that
    is too short; refused: why the explanation cannot be true; surprise: deviation of what no term
    explains, over that of the data sheet."""

    outcome: Outcome
    explained: Explained | None = None
    refused: tuple[Reason, ...] = ()
    surprise: float = 1.0

    @property
    def is_outdated(self) -> bool:
        """True if the newest samples do not fit what the outcome was made of."""
        return self.explained is not None and self.explained.is_outdated

    @property
    def findings(self) -> tuple[Reason, ...]:
        """Kinds and numbers of findings about the window."""
        return (*self.explained.named, *self.refused) if self.explained else ()

    def says(self, end: int) -> WindowSays | None:
        """What scan and latch read of it, made before a bin; None: nothing."""
        if self.explained is None:
            return None
        wrong = np.inf if self.refused else self.surprise
        return WindowSays(end, self.explained.setup, [kind for kind, _ in self.explained.named],
                          wrong, any(walk_of(self.explained)))


def walk_of(explained: Explained) -> tuple[float, float]:
    """Change of the mass [kg/s], speed of the centre [m/s]; 0 where the payload is steady."""
    numbers = dict(explained.named).get("payload_walks", {})
    return float(numbers.get("mass_rate", 0.0)), float(numbers.get("speed", 0.0))
