"""What becomes of a horizon's state when devices are lost or join, data does not arrive, or own data changes."""

import numpy as np
import pytest

from solver import Change, HorizonState, InvalidInputError, Schedule, advance, start
from solver.horizon.membership import (
    Moved,
    as_it_stands,
    exchange,
    schedule_as_it_stands,
    with_changed_data,
    without_arrivals,
)
from solver.horizon.transfer import TRANSFERS
from solver.instances import random_network
from solver.network import Links, Network
from tests.support.sampling import labelled


def planned(
    transfer: str = "send_once", n: int = 30, steps: int = 4
) -> tuple[Network, HorizonState, HorizonState, Moved]:
    """A network, the states before and after some steps for three devices, and what these moved."""
    network = random_network(np.random.default_rng(5), n, link_probability=0.3)
    before = start(network, [3, 8, 11])
    period = advance(network, before, np.ones(steps), transfer=transfer)
    return network, before, period.state, Moved.by(period.steps, before, period.state)


def test_those_who_stay_keep_what_they_hold_and_the_others_begin_anew() -> None:
    network, _, state, _ = planned()
    after = exchange(network, state, [3, 20, 11])
    own = network.devices.data
    np.testing.assert_array_equal(after.data, [state.data[0], own[20], state.data[2]])
    assert state.data[0] > own[3]
    assert after.step == state.step
    for target, kept in ((3, True), (11, True), (8, False), (20, False)):
        senders = state.source[state.target == target]
        pairs = senders, np.full(senders.size, target)
        expected = state.unsent_of(*pairs) if kept else np.ones(senders.size)
        np.testing.assert_array_equal(after.unsent_of(*pairs), expected)


def test_a_device_that_was_lost_and_is_back_has_its_own_data_only() -> None:
    network, _, state, _ = planned()
    after = exchange(network, state, state.sampled, lost=[8])
    np.testing.assert_array_equal(after.data, [state.data[0], network.devices.data[8], state.data[2]])
    assert not np.isin(8, after.target)
    assert np.isin(3, after.target)


def test_a_set_is_not_empty() -> None:
    network, _, state, _ = planned()
    with pytest.raises(InvalidInputError, match="sampled"):
        exchange(network, state, [])


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_what_a_period_moved_adds_up_to_what_its_devices_received(transfer: str) -> None:
    network, before, after, moved = planned(transfer)
    np.testing.assert_allclose(
        np.bincount(moved.target, moved.useful, len(network))[after.sampled], after.data - before.data, rtol=1e-9
    )
    assert len(set(zip(moved.source.tolist(), moved.target.tolist(), strict=True))) == moved.source.size
    links = dict(
        zip(
            zip(network.links.source.tolist(), network.links.target.tolist(), strict=True),
            network.links.similarity.tolist(),
            strict=True,
        )
    )
    similarity = np.array([links[pair] for pair in zip(moved.source.tolist(), moved.target.tolist(), strict=True)])
    np.testing.assert_allclose(
        moved.useful, network.devices.data[moved.source] * (1 - similarity) * moved.share, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_what_did_not_arrive_counts_as_never_sent(transfer: str) -> None:
    _, before, after, moved = planned(transfer)
    nothing = without_arrivals(after, moved, np.ones(moved.source.size))
    np.testing.assert_allclose(nothing.data, before.data, rtol=1e-9)
    np.testing.assert_allclose(nothing.unsent_of(moved.source, moved.target), 1.0)
    same = without_arrivals(after, moved, np.zeros(moved.source.size))
    np.testing.assert_array_equal(same.data, after.data)
    np.testing.assert_array_equal(same.unsent_of(after.source, after.target), after.unsent)
    half = np.zeros(moved.source.size)
    half[0] = 0.5
    less = without_arrivals(after, moved, half)
    place = int(np.flatnonzero(after.sampled == moved.target[0])[0])
    np.testing.assert_allclose(after.data[place] - less.data[place], 0.5 * moved.useful[0])
    assert moved.places_of(moved.source, moved.target).tolist() == list(range(moved.source.size))
    assert moved.places_of(moved.target, moved.source).tolist() == [-1] * moved.source.size


def test_a_period_that_moves_nothing_has_no_pairs() -> None:
    network = random_network(np.random.default_rng(5), 6, link_probability=0.0)
    before = start(network, [0, 1])
    period = advance(network, before, np.ones(2))
    moved = Moved.by(period.steps, before, period.state)
    assert moved.source.size == 0
    assert Moved(**moved.to_lists()).source.size == 0


@pytest.mark.parametrize(("transfer", "error"), [("redraw", 1e-6), ("send_once", 1e-3)])
def test_the_network_as_it_stands_plans_on_from_the_state(transfer: str, error: float) -> None:
    """Plans for the network as it stands are those from the state; but one sender's links share its data only here."""
    network, _, state, _ = planned(transfer, steps=3)
    on = advance(network, state, np.ones(3), transfer=transfer)
    now = as_it_stands(network, state, transfer=transfer)
    anew = advance(now, start(now, state.sampled), np.ones(3), transfer=transfer)
    for one, other in zip(on.steps, anew.steps, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=error)
    gone = as_it_stands(network, state, lost=[8])
    assert gone.devices.data[8] == network.devices.data[8]
    assert gone.devices.data[3] == state.data[0]


def test_links_that_are_announced_carry_what_was_not_sent_yet() -> None:
    network, _, state, _ = planned("redraw", steps=3)
    links = network.links
    dearer = Links(links.source, links.target, links.similarity, 2 * links.transmit_cost)
    schedule = Schedule(
        network, (Change(2, {"transmit_budget": network.devices.transmit_budget}), Change(3, links=dearer))
    )
    on = advance(Schedule(network, (Change(6, links=dearer),)), state, np.ones(4), transfer="redraw")
    now = schedule_as_it_stands(schedule, state, transfer="redraw")
    anew = advance(now, start(now, state.sampled), np.ones(4), transfer="redraw")
    for one, other in zip(on.steps, anew.steps, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_label_counts_grow_with_the_data_received() -> None:
    network = labelled(20)
    state = advance(network, start(network, [2, 5]), np.ones(4)).state
    assert state.data.sum() > network.devices.data[[2, 5]].sum()
    counts = as_it_stands(network, state).devices.label_counts
    assert counts is not None
    np.testing.assert_allclose(counts[[2, 5]].sum(axis=1), state.data, rtol=1e-6)
    others = np.delete(np.arange(20), [2, 5])
    assert network.devices.label_counts is not None
    np.testing.assert_array_equal(counts[others], network.devices.label_counts[others])


def test_what_was_sent_is_a_smaller_share_of_more_data() -> None:
    _, _, state, _ = planned()
    before = np.full(30, 100.0)
    now = before.copy()
    sender = int(state.source[0])
    now[sender], now[3] = 200.0, 150.0
    after = with_changed_data(state, before, now)
    np.testing.assert_allclose(1 - after.unsent[0], (1 - state.unsent[0]) / 2)
    np.testing.assert_allclose(after.data - state.data, [50.0, 0.0, 0.0])
    now[sender] = 0.0
    assert with_changed_data(state, before, now).unsent[0] == 0.0


def test_later_conditions_counted_from_now() -> None:
    network, _, _, _ = planned()
    loud, silent = network.devices.transmit_budget * 2, np.zeros(30)
    schedule = Schedule(network, (Change(3, {"transmit_budget": loud}), Change(6, {"transmit_budget": silent})))
    later = schedule.after(4)
    for step in (1, 2, 9):
        np.testing.assert_array_equal(
            later.at(step).devices.transmit_budget, schedule.at(step + 4).devices.transmit_budget
        )
    assert len(later.changes) == 1
