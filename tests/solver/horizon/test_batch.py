from itertools import combinations

import numpy as np
import pytest

from solver import TRANSFERS, InvalidInputError, plan_offloading, plan_sets
from solver.instances import BUDGETS, random_network


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("budgets", BUDGETS)
def test_many_sets_at_once_are_planned_as_each_alone(budgets: str, transfer: str) -> None:
    receive, transmit = BUDGETS[budgets]
    network = random_network(np.random.default_rng(5), 9, link_probability=0.5, receive=receive, transmit=transmit)
    sets = list(combinations(range(9), 3))[::7]
    together = plan_sets(network, sets, horizon=4, transfer=transfer)
    for b, sampled in enumerate(sets):
        alone = plan_offloading(network, sampled, horizon=4, transfer=transfer)
        assert together.objective[b] == pytest.approx(alone.objective, rel=1e-7)
        np.testing.assert_allclose(together.sampled_data[b], alone.steps[-1].sampled_data, rtol=1e-5)
        assert together.relative_gap[b] <= 1e-6
        own = slice(together.starts[b], together.starts[b + 1])
        assert set(together.target[own]) <= set(sampled)
        moved = together.fractions[:, own] * network.devices.data[together.source[own]]
        assert moved.sum() == pytest.approx(alone.datapoints_moved, rel=1e-5)


def test_sets_without_links_keep_their_data() -> None:
    network = random_network(np.random.default_rng(5), 6, link_probability=0.0)
    plans = plan_sets(network, [[0, 1], [2, 5]], horizon=2)
    np.testing.assert_array_equal(plans.sampled_data, network.devices.data[plans.sets])
    assert plans.fractions.shape == (2, 0)


@pytest.mark.parametrize("sets", [[[0, 0]], [[0, 99]]])
def test_bad_sets_are_refused(sets: list[list[int]]) -> None:
    with pytest.raises(InvalidInputError, match="sets"):
        plan_sets(random_network(np.random.default_rng(5), 6), sets, horizon=2)


def test_a_device_that_cannot_train_is_named() -> None:
    network = random_network(np.random.default_rng(5), 6)
    network = network.with_columns({"processing_capacity": np.r_[0.0, network.devices.processing_capacity[1:]]})
    with pytest.raises(InvalidInputError, match="device 0 cannot be sampled"):
        plan_sets(network, [[1, 2], [0, 2]], horizon=2)
