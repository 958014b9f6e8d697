"""A replay trains the devices of each period; who is lost sends no update and keeps nothing of what it received."""

from typing import Any

import numpy as np
import pytest

from fedl_sim.loop.checkpoint import pack, restore
from fedl_sim.loop.replay import ReplayLoop
from fedl_sim.trainer.part import open_part
from tests.support.parts import make_part

Json = dict[str, Any]

DEVICES = {
    "data": [30.0, 40.0, 20.0, 25.0],
    "processing_capacity": [1000.0] * 4,
    "processing_cost": [1.0] * 4,
    "receive_capacity": [50.0] * 4,
    "transmit_budget": [100.0] * 4,
}
# Device 1 sends to all others.
LINKS = {"source": [1, 1, 1], "target": [0, 2, 3], "similarity": [0.0] * 3, "transmit_cost": [1.0] * 3}


def replay(*periods: Json, transfer: str = "send_once", fraction: float = 0.25, **changes: Any) -> ReplayLoop:
    """In each step of two a period, device 1 sends this fraction to every device that trains."""
    steps = []
    for step in range(1, 2 * len(periods) + 1):
        to = periods[(step - 1) // 2]["sampled"]
        steps.append(
            {"step": step, "source": [1] * len(to), "target": to, "fraction": [fraction] * len(to), "useful": 5.0}
        )
    told = [{"lost": [], **period} for period in periods]
    plan = {
        "sampled": periods[0]["sampled"],
        "steps": steps,
        "relative_gap": 0.0,
        "transfer": transfer,
        "periods": told,
    }
    part = make_part(
        generator=None,
        network={"devices": DEVICES, "links": LINKS, "changes": []},
        plan=plan,
        scheme="plan",
        sample_size=2,
        aggregations=len(periods),
        aggregation_period=2,
        **changes,
    )
    loop = open_part(part)
    assert isinstance(loop, ReplayLoop)
    return loop


def advanced(loop: ReplayLoop, times: int) -> ReplayLoop:
    for _ in range(times):
        loop.advance()
    return loop


HEALED = (
    {"sampled": [0, 2], "lost": [2]},
    {"sampled": [0, 3], "own_data": {"device": [0, 1], "datapoints": [10.0, 60.0]}},
    {"sampled": [2, 3], "delivered": {"source": [1], "target": [2], "datapoints": [6.0]}},
)


def test_a_lost_device_sends_no_update_and_its_place_is_taken() -> None:
    loop = advanced(replay(*HEALED), 2)
    alone = advanced(replay({"sampled": [0]}), 2)
    np.testing.assert_array_equal(loop.parameters, alone.parameters)
    assert loop.processed == {0: alone.processed[0], 2: 0, 3: 0}
    loop.advance()
    assert loop.sampled.tolist() == [0, 3]
    assert loop.holdings.devices == [0, 3]


def test_who_comes_back_begins_with_its_own_data() -> None:
    back = replay({"sampled": [0, 2], "lost": [2]}, {"sampled": [0, 2]})
    stayed = replay({"sampled": [0, 2]}, {"sampled": [0, 2]})
    for loop in (back, stayed):
        advanced(loop, 3)
    assert back.holdings.received(2) < stayed.holdings.received(2)
    assert back.holdings.received(0) == stayed.holdings.received(0)
    assert back.processed[2] < stayed.processed[2]


def test_nobody_left_leaves_the_model_as_it_is() -> None:
    loop = advanced(replay({"sampled": [0], "lost": [0]}, {"sampled": [2]}), 1)
    before, seen = loop.parameters, loop.seen
    record = loop.advance()
    np.testing.assert_array_equal(loop.parameters, before)
    assert (record.gradient_norm, loop.seen) == (seen.gradient_norm, seen)
    loop.advance()
    assert (loop.parameters != before).any()


def test_own_data_grows_and_shrinks_and_what_was_received_stays() -> None:
    loop = advanced(replay(*HEALED), 2)
    own, held = loop.holdings.data(0)[:30], loop.holdings.data(0)
    received = held[30:]
    loop.go_to(2)
    np.testing.assert_array_equal(loop.holdings.data(0), np.concatenate([own[:10], received]))
    record = loop.advance()
    # A quarter of 60 datapoints a step instead of a quarter of 40.
    assert record.moved == 2 * 2 * 10 + 2 * 2 * 15


@pytest.mark.parametrize("transfer", ["send_once", "redraw"])
def test_what_does_not_arrive_is_not_received(transfer: str) -> None:
    short = {"source": [1], "target": [0], "datapoints": [5.0]}
    whole = replay({"sampled": [0]}, transfer=transfer)
    less = replay({"sampled": [0], "delivered": short}, transfer=transfer)
    kept = [advanced(loop, 2).totals for loop in (whole, less)]
    assert [one.moved for one in kept] == [20, 20]
    assert kept[1].useful <= 6 < kept[0].useful
    assert kept[1].predicted == pytest.approx(kept[0].predicted * 5 / 20)


def test_a_sender_that_sends_once_sends_again_what_did_not_arrive() -> None:
    none = {"source": [1], "target": [0], "datapoints": [0.0]}
    late = replay({"sampled": [0], "delivered": none}, {"sampled": [0]}, fraction=0.5)
    whole = replay({"sampled": [0]}, fraction=0.5)
    np.testing.assert_array_equal(
        np.sort(advanced(late, 3).holdings.data(0)), np.sort(advanced(whole, 2).holdings.data(0))
    )


def test_going_on_elsewhere_changes_nothing() -> None:
    alone = advanced(replay(*HEALED), 4)
    loop = replay(*HEALED)
    while not loop.finished:
        loop.advance()
        packed = pack(loop)
        loop = replay(*HEALED)
        restore(loop, packed)
    assert loop.result() == alone.result()
    np.testing.assert_array_equal(loop.parameters, alone.parameters)
    assert set(loop.holdings.devices) == set(alone.holdings.devices)
    for device in loop.sampled.tolist():
        np.testing.assert_array_equal(loop.holdings.data(device), alone.holdings.data(device))
