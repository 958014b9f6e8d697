import numpy as np
import pytest

from sampler.kernels.pool import mean_reach, sent_once
from sampler.objectives.reach import attainable_counts, link_reach, mean_room, sendable_share, steps_needed
from solver.network import Devices, Links, Network
from tests.support.sampling import labelled, network


def two_devices(**columns: object) -> Network:
    values: dict[str, object] = {
        "data": np.array([100.0, 40.0]),
        "processing_capacity": np.array([500.0, 70.0]),
        "processing_cost": np.ones(2),
        "receive_capacity": np.array([9.0, 9.0]),
        "transmit_budget": np.array([20.0, 1e9]),
    }
    links = Links(np.array([0, 1]), np.array([1, 0]), np.array([0.5, 0.2]), np.array([2.0, 1.0]))
    return Network(Devices(**(values | columns)), links)  # type: ignore[arg-type]


def test_a_step_sends_what_the_budget_pays_for() -> None:
    # 20 pays for 10 of device 0's 100 datapoints at cost 2; device 1 could send all of its 40 many times over.
    # Links are kept sorted by target, so 1 → 0 comes first.
    np.testing.assert_allclose(sendable_share(steps_needed(two_devices())), [1.0, 0.1])
    np.testing.assert_allclose(sendable_share(steps_needed(two_devices(transmit_budget=np.zeros(2)))), [0.0, 0.0])


def test_a_link_needs_as_many_steps_as_its_cost_has_budgets() -> None:
    np.testing.assert_allclose(steps_needed(two_devices()), [40 / 1e9, 10.0])
    free = two_devices(transmit_budget=np.zeros(2), data=np.array([0.0, 40.0]))
    np.testing.assert_allclose(steps_needed(free), [np.inf, 0.0])


@pytest.mark.parametrize("horizon", [1, 7, 400])
def test_sent_once_is_the_mean_of_what_has_arrived(horizon: int) -> None:
    steps = np.arange(1, horizon + 1)
    for pace in (0.0, 0.5, 1.0, 2.0, 6.0, 13.0, 1e5, np.inf):
        for everything in (1.0, 4.0, 8.0, 1e5, np.inf):
            arrived = np.minimum(steps / pace if pace > 0 else np.inf, 1.0)
            arrived = np.where(steps >= everything, 1.0, arrived)
            assert sent_once(pace, everything, horizon) == pytest.approx(arrived.mean(), abs=1e-12)


@pytest.mark.parametrize("horizon", [1, 7, 400])
def test_mean_reach_is_the_mean_of_what_has_been_sent(horizon: int) -> None:
    share = np.array([0.0, 1e-13, 1e-9, 1e-4, 0.03, 0.5, 1.0])
    steps = np.arange(1, horizon + 1)
    unsent = np.exp(steps * np.log1p(-share[:-1, None]))
    expected = np.append((1 - unsent).mean(axis=1), 1.0)
    np.testing.assert_allclose([mean_reach(s, horizon) for s in share], expected, rtol=1e-5, atol=1e-16)


@pytest.mark.parametrize("horizon", [1, 3, 4, 50])
def test_mean_room_is_the_mean_of_what_fits(horizon: int) -> None:
    net = two_devices()
    steps = np.arange(1, horizon + 1)
    # Device 1 is full once it has taken 30, in its fourth step.
    expected = [np.minimum(9.0 * steps, 400).mean(), np.minimum(9.0 * steps, 30).mean()]
    np.testing.assert_allclose(mean_room(net.devices, horizon), expected)
    np.testing.assert_array_equal(mean_room(net.devices, 0), [0, 0])


def test_room_without_limits_stays_finite() -> None:
    net = two_devices(processing_cost=np.zeros(2), receive_capacity=np.array([0.0, 5.0]))
    np.testing.assert_allclose(mean_room(net.devices, 3), [0.0, 10.0])


class TestAttainable:
    def test_one_link_by_hand(self) -> None:
        devices = Devices(
            data=np.array([100.0, 40.0]),
            processing_capacity=np.full(2, 500.0),
            processing_cost=np.ones(2),
            receive_capacity=np.full(2, 9.0),
            transmit_budget=np.full(2, 20.0),
        )
        net = Network(devices, Links(np.array([0]), np.array([1]), np.array([0.5]), np.array([2.0])))
        # A step sends 20 / (100·2) = 0.1 of the data, half of which is new; two steps 1 − 0.9² = 0.19.
        np.testing.assert_allclose(link_reach(net, 2), [0.5 * 0.19])
        np.testing.assert_allclose(attainable_counts(net, 2)[:, 0], [100, 40 + 9.5])
        np.testing.assert_allclose(attainable_counts(net, 0)[:, 0], [100, 40])

    def test_receivers_take_no_more_than_they_may(self) -> None:
        net = network(receive_capacity=np.full(12, 0.5))
        received = attainable_counts(net, 4)[:, 0] - net.devices.data
        assert received.max() == pytest.approx(2.0)

    def test_the_sum_over_links_is_that_of_single_links(self) -> None:
        net = labelled(30).with_columns({"receive_capacity": np.full(30, 1e9)})
        counts = np.asarray(net.devices.label_counts)
        expected = counts.copy()
        for link, reach in enumerate(link_reach(net, 6)):
            expected[net.links.target[link]] += reach * counts[net.links.source[link]]
        roomy = net.with_columns({"processing_capacity": np.full(30, 1e9)})
        np.testing.assert_allclose(attainable_counts(roomy, 6), expected)
