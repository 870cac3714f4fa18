# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the campaign of hostile messages measures; all: python -m benchmarks.mutations.live."""

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from rclpy.serialization import serialize_message  # noqa: E402

from benchmarks.mutations.live import (  # noqa: E402
    GROWTH,
    RATE,
    SPAN,
    STOPPING,
    Tally,
    longest_gap,
    lowest_rate,
    table,
)
from benchmarks.mutations.live_inputs import KINDS, Hands  # noqa: E402

STEADY = (np.arange(101) / RATE).tolist()  # 10 s of estimates


def test_a_steady_stream_has_its_rate_wherever_it_is_looked_at():
    assert lowest_rate(STEADY, 1.0, 9.0) == pytest.approx(RATE, abs=0.5 / SPAN + 1e-9)
    assert longest_gap(STEADY, 1.0, 9.0) == pytest.approx(1.0 / RATE)


@pytest.mark.parametrize("silence", [0.5, 1.0, 1.9])
def test_a_silence_lowers_the_rate_of_the_span_that_holds_it(silence):
    times = [t for t in STEADY if not 4.0 < t < 4.0 + silence - 1e-6]
    lost = round(silence * RATE) - 1
    assert lowest_rate(times, 1.0, 9.0) == pytest.approx(RATE - lost / SPAN, abs=1.0 / SPAN)
    assert longest_gap(times, 1.0, 9.0) == pytest.approx(silence, abs=1e-6)


def test_a_node_that_falls_silent_for_good_has_no_rate():
    times = [t for t in STEADY if t <= 3.0]
    assert lowest_rate(times, 2.0, 6.0) == 0.0
    assert longest_gap(times, 2.0, 6.0) == pytest.approx(3.0)


@pytest.mark.parametrize(("broken", "good"), [
    ({}, True), ({"rates": [RATE, 0.4 * RATE]}, False), ({"growth": [GROWTH + 1.0]}, False),
    ({"stops": [STOPPING + 0.1]}, False), ({"failures": ["exit status 1"]}, False)])
def test_a_bound_that_is_exceeded_once_fails_the_campaign(broken, good):
    tally = Tally(**{"cases": 2, "rates": [RATE], "gaps": [0.1], "growth": [1.0], **broken})
    assert tally.is_good == good
    assert table({"shape": tally}).splitlines()[-1].startswith("| shape | 2 |")


def size(message):
    """Of a message as it is sent; its padding holds anything."""
    return len(message[1] if isinstance(message, tuple) else serialize_message(message))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_case_can_be_sent_again_from_its_numbers(kind):
    def sent(number):
        found = []
        hands = Hands(lambda topic, message, latched: found.append((topic, size(message))),
                      lambda kind, name, request: found.append((name, size(request))))
        KINDS[kind](hands, np.random.default_rng(number))
        return found

    first = sent(11)
    assert first and first == sent(11) != sent(12)
