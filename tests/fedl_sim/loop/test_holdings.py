"""Datapoints that really move agree with eqs. (7) and (8) within sampling error."""

import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.holdings import Holdings, Transfer
from fedl_sim.network.partition import Partition, partition_by_labels
from fedl_sim.network.similarity import similar_radius

DIGITS = load_data_set("digits").train


def holdings(seed: int = 0, quantile: float = 0.3) -> Holdings:
    generator = np.random.default_rng(seed)
    partition = partition_by_labels(DIGITS, 12, generator, mean_datapoints=80)
    return Holdings(DIGITS, partition, [0, 1], similar_radius(DIGITS, generator, quantile=quantile))


def test_sending_everything_leaves_nothing_useful() -> None:
    held = holdings()
    before = len(held.data(0))
    first = held.move([Transfer(5, 0, 1.0)], [2.0], seed=0, step=1)
    again = held.move([Transfer(5, 0, 1.0)], [2.0], seed=0, step=2)
    assert first.useful == (~holdings().covered(5, 0)).sum() > 0
    assert (again.useful, again.sent) == (0, first.sent)
    assert first.transmit_cost == 2.0 * first.sent
    assert len(held.data(0)) == before + first.useful
    assert held.covered(5, 0).all()


def test_useful_data_and_coverage_follow_the_recursion() -> None:
    """E[useful] = Φ D (1−Λ) and Λ ← Λ + (1−Λ)Φ, over many seeds and several steps, within 4 deviations."""
    fractions = [0.3, 0.2, 0.5]
    # A sender that shares some of its data with the receiver, not all.
    source = next(k for k in range(2, 12) if 0.2 < holdings().covered(k, 1).mean() < 0.8)
    base = holdings().covered(source, 1).copy()
    data, runs = len(base), 300
    useful = np.zeros((runs, len(fractions)))
    for seed in range(runs):
        held = holdings()
        for step, fraction in enumerate(fractions):
            useful[seed, step] = held.move([Transfer(source, 1, fraction)], [1.0], seed=seed, step=step).useful
    uncovered = 1 - base.mean()
    for step, fraction in enumerate(fractions):
        predicted = fraction * data * uncovered
        error = useful[:, step].std() / np.sqrt(runs)
        assert 0 < error < 0.5
        assert useful[:, step].mean() == pytest.approx(predicted, abs=4 * error)
        uncovered *= 1 - fraction


def test_small_fractions_move_their_share_on_average() -> None:
    held = holdings(quantile=0.0)
    sent = [held.move([Transfer(4, 0, 0.002)], [1.0], seed=s, step=0).sent for s in range(2000)]
    size = held._partition.sizes[4]
    assert set(sent) == {0, 1}
    assert np.mean(sent) == pytest.approx(0.002 * size, rel=0.25)


def test_the_order_of_transfers_does_not_matter() -> None:
    one, two = holdings(), holdings()
    transfers = [Transfer(3, 0, 0.5), Transfer(4, 0, 0.4), Transfer(4, 1, 0.4)]
    a = one.move(transfers, [1, 2, 3], seed=5, step=1)
    b = two.move(transfers[::-1], [3, 2, 1], seed=5, step=1)
    assert (a.sent, a.useful, a.per_transfer) == (b.sent, b.useful, b.per_transfer[::-1])
    for device in (0, 1):
        assert sorted(one.data(device)) == sorted(two.data(device))


def test_senders_keep_their_data() -> None:
    partition = Partition.from_lists([np.arange(5), np.arange(20, 30)])
    held = Holdings(DIGITS, partition, [0], radius=0.0)
    held.move([Transfer(1, 0, 0.5)], [1.0], seed=0, step=1)
    np.testing.assert_array_equal(partition.of(1), np.arange(20, 30))
    assert len(held.data(0)) == 10
    assert set(held.data(0)[5:]) <= set(range(20, 30))


def test_a_fraction_beyond_one_is_refused() -> None:
    with pytest.raises(ValueError, match="fraction"):
        Transfer(0, 1, 1.1)


def test_sending_once_repeats_nothing_and_survives_a_checkpoint() -> None:
    generator = np.random.default_rng(0)
    partition = partition_by_labels(DIGITS, 12, generator, mean_datapoints=80)
    held = Holdings(DIGITS, partition, [0, 1], radius=0.0, send_once=True)
    size = int(partition.sizes[5])
    first = held.move([Transfer(5, 0, 0.6)], [1.0], seed=0, step=1)
    later = Holdings(DIGITS, partition, [0, 1], radius=0.0, send_once=True)
    later.restore(held.to_arrays())
    for one in (held, later):
        second = one.move([Transfer(5, 0, 0.6)], [1.0], seed=0, step=2)
        # What is left of the 40 % is all new, and then nothing is left.
        assert first.sent + second.sent == size
        assert one.move([Transfer(5, 0, 0.6)], [1.0], seed=0, step=3).sent == 0
        assert one.covered(5, 0).all()
        # Another receiver gets the same order from its beginning.
        assert one.move([Transfer(5, 1, 1.0)], [1.0], seed=0, step=3).sent == size
    np.testing.assert_array_equal(held.data(0), later.data(0))


@pytest.mark.parametrize("send_once", [False, True])
def test_what_is_lost_on_the_way_does_not_arrive(*, send_once: bool) -> None:
    generator = np.random.default_rng(0)
    partition = partition_by_labels(DIGITS, 4, generator, mean_datapoints=400)
    held = Holdings(DIGITS, partition, [0], radius=0.0, send_once=send_once)
    size, new = int(partition.sizes[2]), int((~held.covered(2, 0)).sum())
    half = held.move([Transfer(2, 0, 1.0)], [2.0], seed=0, step=1, loss=0.5)
    assert (half.sent, half.transmit_cost) == (size, 2.0 * size)
    (share,) = half.delivered
    assert share == pytest.approx(0.5, abs=0.15)
    assert half.useful == pytest.approx(new * share, abs=0.15 * size)
    rest = held.move([Transfer(2, 0, 1.0)], [2.0], seed=0, step=2)
    # The sender knows what did not arrive: if it sends once, it sends that and no more.
    assert rest.sent == (size - round(share * size) if send_once else size)
    assert rest.useful == new - half.useful
    assert rest.delivered == (1.0,)


def test_a_lost_device_has_nothing_that_it_received() -> None:
    partition = partition_by_labels(DIGITS, 12, np.random.default_rng(0), mean_datapoints=80)
    held = Holdings(DIGITS, partition, [0, 1], radius=0.0, send_once=True)
    first = held.move([Transfer(5, 0, 1.0), Transfer(5, 1, 1.0)], [1.0, 1.0], seed=0, step=1)
    before = held.data(1)
    held.drop(0)
    assert held.devices == [1]
    held.admit(0)
    held.admit(1)
    np.testing.assert_array_equal(held.data(0), partition.of(0))
    np.testing.assert_array_equal(held.data(1), before)
    again = held.move([Transfer(5, 0, 1.0), Transfer(5, 1, 1.0)], [1.0, 1.0], seed=0, step=2)
    assert again.per_transfer == (first.per_transfer[0], 0)


def test_devices_replace_their_own_data_and_keep_what_they_received() -> None:
    old = Partition.from_lists([np.arange(5), np.arange(20, 30)])
    new = Partition.from_lists([np.arange(100, 105), np.array([200, 201, *range(22, 30)])])
    held = Holdings(DIGITS, old, [0], radius=0.0)
    held.move([Transfer(1, 0, 1.0)], [1.0], seed=0, step=1)
    received = held.data(0)[5:]
    held.renew(new)
    np.testing.assert_array_equal(held.data(0), np.concatenate([np.arange(100, 105), received]))
    # What the sender has anew, it can send; the rest was sent before.
    assert held.covered(1, 0).tolist() == [False, False] + [True] * 8
    held.move([Transfer(1, 0, 1.0)], [1.0], seed=0, step=2)
    np.testing.assert_array_equal(held.data(0)[-2:], [200, 201])


def test_labels_that_the_receiver_lacks_are_sent_first() -> None:
    """The set and the amounts are the same; what arrives is spread more evenly over labels."""

    def spread_of(*, lacking: bool) -> tuple[float, int]:
        partition = partition_by_labels(DIGITS, 12, np.random.default_rng(0), mean_datapoints=80, labels_per_device=6)
        held = Holdings(DIGITS, partition, [0], 0.0, send_once=True, lacking=lacking)
        for step in range(4):
            held.move([Transfer(k, 0, 0.05, 4) for k in range(1, 6)], [1.0] * 5, seed=0, step=step)
        counts = np.bincount(DIGITS.labels[held.data(0)], minlength=10)
        return float(counts.std()), len(held.data(0))

    even, kept = spread_of(lacking=True)
    uneven, kept_of_any = spread_of(lacking=False)
    assert even < 0.8 * uneven
    assert kept == pytest.approx(kept_of_any, abs=8)


def test_a_sender_that_prefers_labels_still_sends_each_datapoint_once() -> None:
    partition = partition_by_labels(DIGITS, 12, np.random.default_rng(0), mean_datapoints=30)
    held = Holdings(DIGITS, partition, [0], -1.0, send_once=True, lacking=True)  # nothing counts as similar
    size = len(partition.of(3))
    sent = [held.move([Transfer(3, 0, 0.1, 7)], [1.0], seed=0, step=step).sent for step in range(6)]
    assert sum(sent) == size
    assert sorted(held.data(0)[len(partition.of(0)) :].tolist()) == sorted(partition.of(3).tolist())


def test_who_redraws_cannot_prefer_labels() -> None:
    partition = partition_by_labels(DIGITS, 12, np.random.default_rng(0))
    with pytest.raises(InvalidSettingError, match="sends once"):
        Holdings(DIGITS, partition, [0], 0.0, lacking=True)
