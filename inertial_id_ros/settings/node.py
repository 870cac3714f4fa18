# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the node: its life cycle, and what nobody may change while it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InvalidSetting
from .spec import setting

# Services and the action of the node that can be locked. A reader needs get_inertial_parameters.
LOCKABLE = ("apply", "change_state", "export", "identify", "reset", "save", "set_shape",
            "set_tool", "tare", "untare")
GROUPS = {
    "all": LOCKABLE,
    "beliefs": ("identify", "reset", "set_shape", "set_tool", "tare", "untare"),
    "files": ("export", "save", "set_tool"),
    "robot": ("apply",),  # what writes into the controller of the robot, or into its driver
}
# Settings in other groups say what the world is like, or how it is measured.
_COMPUTATION = ("estimator", "pmd", "lmi", "manifold", "entropic")
_BELIEFS_OF_ESTIMATOR = ("estimator.max_mass", "estimator.estimate_bias",
                         "estimator.estimate_noise")


@dataclass(frozen=True)
class LifecycleSettings:
    """The life cycle of a managed node."""

    autostart: bool = setting(
        True, "Configure and activate the node when it starts; false: a lifecycle manager, or ros2 "
        "lifecycle set, does so.")
    bond_period: float = setting(
        0.1, "Time between two heartbeats of the bond with a lifecycle manager, where autostart is "
        "false; 0: no bond.", unit="s", low=0.0, high=10.0)


@dataclass(frozen=True)
class SecuritySettings:
    """What is locked from the start on; other nodes then cannot change it."""

    lock_parameters: str = setting(
        "none", "Parameters that cannot be set while the node runs. beliefs: use_sim_time and all "
        "that says what sensor, driver and payload are like (wrench, tare, precompensated, "
        "estimator.max_mass, .estimate_bias, .estimate_noise), but not how the estimate is "
        "computed; all: every one.", choices=("none", "beliefs", "all"))
    lock_services: str = setting(
        "", "Services, and the action identify, that refuse every request (change_state: the node "
        "has none of the life cycle), separated by commas: "
        f"{', '.join(LOCKABLE)}; or groups of them: beliefs ({', '.join(GROUPS['beliefs'])}), "
        f"files ({', '.join(GROUPS['files'])}), robot ({', '.join(GROUPS['robot'])}), all. "
        "Empty: none.")

    @property
    def locked_services(self) -> frozenset[str]:
        """Names of the locked services.

        Raises:
            InvalidSetting: lock_services holds another word.
        """
        locked: set[str] = set()
        for word in re.split(r"[,\s]+", self.lock_services.strip()):
            if word not in (*GROUPS, *LOCKABLE, ""):
                raise InvalidSetting(f"security.lock_services holds {word[:100]!r}; allowed: "
                                     f"{', '.join([*GROUPS, *LOCKABLE])}")
            locked.update(GROUPS.get(word, (word,) if word else ()))
        return frozenset(locked)

    def locks_parameter(self, name: str) -> bool:
        """Whether a parameter cannot be set while the node runs."""
        return self.lock_parameters == "all" or (
            self.lock_parameters == "beliefs" and is_belief(name))


def is_belief(name: str) -> bool:
    """Whether a parameter says what the world is like, not how the estimate is computed."""
    return name.split(".")[0] not in _COMPUTATION or name in _BELIEFS_OF_ESTIMATOR
