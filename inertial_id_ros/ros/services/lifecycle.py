# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The life cycle of a managed node: configure, activate, deactivate, clean up, shut down.

What a transition makes, the opposite one destroys. A transition that cannot be carried out leaves
the state as it was, and says why in the log.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lifecycle_msgs.msg import Transition
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn

from ...errors import InertialIdError, printable
from ..settings_node import Section, SettingsNode

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_TRANSITIONS = {getattr(Transition, f"TRANSITION_{name.upper()}"): name
                for name in ("configure", "cleanup", "activate", "deactivate")}


class NotActive(InertialIdError):
    """The node was asked for something that only an active one can do."""


class ManagedNode(LifecycleNodeMixin, SettingsNode):  # type: ignore[misc]
    """A node whose settings are parameters, and which a lifecycle manager can start and stop.

    Publishers that `create_lifecycle_publisher` makes are silent unless the node is active.

    Args:
        name, files: as `SettingsNode` takes them.
    """

    _stage = ""  # the transition that runs, if it makes something
    _left_out: tuple[Any, ...] = ()

    def __init__(self, name: str, files: Sequence[Sequence[Section]] | None = None) -> None:
        SettingsNode.__init__(self, name, files)
        self._made: dict[str, list[Callable[[], Any]]] = {"configure": [], "activate": []}
        self._failure: Exception | None = None
        self.is_configured = self.is_active = self._starts_by_itself = False
        LifecycleNodeMixin.__init__(self, enable_communication_interface=True)
        service = getattr(self, "_service_change_state", None)
        if service is not None:
            service.callback = self._survive_impossible(service.callback)

    def _survive_impossible(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Wrap the service of transitions: rclpy raises where a transition is not possible from the
        present state, which would end the process."""

        def handle(request: Any, response: Any) -> Any:
            if reason := self._why_impossible(request.transition):
                self.get_logger().warning(printable(reason))
                response.success = False
                return response
            return answer(request, response)

        return handle

    def _why_impossible(self, asked: Transition) -> str:
        """Why a transition is not possible now, in words; empty where it is."""
        possible = {number: label
                    for number, label, *_ in self._state_machine.available_transitions}
        if asked.label in possible.values() if asked.label else asked.id in possible:
            return ""
        name = asked.label or _TRANSITIONS.get(asked.id, str(asked.id))
        return (f"transition '{name}' is not possible while the node is "
                f"{self._state_machine.current_state[1]}; possible: {', '.join(possible.values())}")

    # ---- what a node does ------------------------------------------------------------------------

    @abstractmethod
    def configure(self) -> None:
        """Make all that an inactive node has (may raise an InertialIdError)."""

    @abstractmethod
    def activate(self) -> None:
        """Begin; publishers are no longer silent (may raise an InertialIdError)."""

    @abstractmethod
    def deactivate(self) -> None:
        """End; publishers are silent afterwards (may raise an InertialIdError, before it has ended
        anything)."""

    @abstractmethod
    def clean_up(self) -> None:
        """End what `configure` has begun (may raise an InertialIdError)."""

    def require_active(self) -> None:
        """Raise NotActive where the node is not."""
        if not self.is_active:
            raise NotActive("the node is inactive; activate it first (ros2 lifecycle set "
                            f"{self.get_fully_qualified_name()} activate)")

    def start_by_itself(self) -> None:
        """Configure and activate; raises what prevented that, in place of a line in the log."""
        self._starts_by_itself = True
        for transition in (self.trigger_configure, self.trigger_activate):
            if transition() != _SUCCESS:
                assert self._failure is not None
                raise self._failure
        self._starts_by_itself = False

    # ---- transitions -----------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._carry_out("configure", lambda: self._make("configure", self.configure))

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        super().on_activate(state)
        done = self._carry_out("activate", lambda: self._make("activate", self.activate))
        if done != _SUCCESS:
            super().on_deactivate(state)
        return done

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        done = self._carry_out("deactivate", self._end_activity)
        return super().on_deactivate(state) if done == _SUCCESS else done

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._carry_out("clean up", self._end_configuration)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the activity, which nothing can prevent. Publishers stay, silent, until the process
        ends: destroyed at once, they would take their last message with them."""
        if self.is_active and self._carry_out("end in order", self._end_activity) != _SUCCESS:
            self._destroy("activate")
            self.is_active = False
        super().on_deactivate(state)
        return _SUCCESS

    def _carry_out(self, name: str, action: Callable[[], None]) -> TransitionCallbackReturn:
        """Run an action; what it raises is logged, and is a failure of the transition."""
        try:
            action()
        except Exception as error:  # rclpy would swallow it
            self._failure = error
            words = str(error) if isinstance(error, InertialIdError) else repr(error)
            if not self._starts_by_itself:
                self.get_logger().error(f"cannot {name}: {words}")
            return _FAILURE
        return _SUCCESS

    def _make(self, stage: str, action: Callable[[], None]) -> None:
        """Run an action, and remember what it makes; destroy that where it fails."""
        self._stage = stage
        try:
            action()
        except BaseException:
            self._destroy(stage)
            raise
        finally:
            self._stage = ""
        if stage == "configure":
            self.is_configured = True
        else:
            self.is_active = True

    def _end_activity(self) -> None:
        self.deactivate()
        self._destroy("activate")
        self.is_active = False

    def _end_configuration(self) -> None:
        self.clean_up()
        self._destroy("configure")
        self.is_configured = False

    # ---- what they make --------------------------------------------------------------------------

    @property
    def subscriptions(self) -> Iterator[Any]:
        """Those that an executor serves."""
        return (one for one in super().subscriptions if one not in self._left_out)

    def leave_out(self, subscriptions: Sequence[Any]) -> None:
        """Have executors serve all subscriptions but these from now on."""
        self._left_out = tuple(subscriptions)
        if self.executor is not None:
            self.executor.wake()

    def _remember(self, destroy: Callable[[Any], Any], entity: Any) -> Any:
        """Have an entity destroyed by the opposite of the transition that runs."""
        if self._stage:
            self._made[self._stage].append(lambda: destroy(entity))
        return entity

    def _destroy(self, stage: str) -> None:
        """Destroy what a transition has made, the newest first."""
        while self._made[stage]:
            self._made[stage].pop()()

    def create_lifecycle_publisher(self, *args: Any, **options: Any) -> Any:
        return self._remember(self.destroy_lifecycle_publisher,
                              super().create_lifecycle_publisher(*args, **options))

    def create_publisher(self, *args: Any, **options: Any) -> Any:
        return self._remember(self.destroy_publisher, super().create_publisher(*args, **options))

    def create_subscription(self, *args: Any, **options: Any) -> Any:
        return self._remember(self.destroy_subscription,
                              super().create_subscription(*args, **options))

    def create_service(self, *args: Any, **options: Any) -> Any:
        return self._remember(self.destroy_service, super().create_service(*args, **options))

    def create_timer(self, *args: Any, **options: Any) -> Any:
        return self._remember(self.destroy_timer, super().create_timer(*args, **options))
