import numpy as np
import pytest

from fedl_sim.network.profiles import BUDGETS, PROFILES, Budget, Profile, device_columns, link_cost


def test_the_mapping_is_the_documented_one() -> None:
    budget = Budget(receive_share=0.5, transmit_share=0.2, headroom=3)
    board = Profile("board", speed=0.5, power=2.0)
    columns = device_columns(4, 100, budget, np.random.default_rng(0), (board,))
    np.testing.assert_allclose(columns.processing_cost, 4)
    np.testing.assert_allclose(columns.processing_capacity / columns.processing_cost, 3 * 0.5 * 100)
    np.testing.assert_allclose(columns.receive_capacity, 0.5 * (1 - columns.load) * 0.5 * 100)
    np.testing.assert_allclose(columns.transmit_budget, 0.2 * (1 - columns.load) * 100)


def test_loads_lie_between_a_quarter_and_three_quarters_and_all_boards_appear() -> None:
    columns = device_columns(500, 100, BUDGETS["tight"], np.random.default_rng(0))
    assert 0.25 <= columns.load.min() < 0.3
    assert 0.7 < columns.load.max() <= 0.75
    assert set(columns.profile) == set(range(len(PROFILES)))


def test_link_cost_is_latency_relative_to_an_idle_perfect_link() -> None:
    costs = link_cost(np.ones(300), np.random.default_rng(0))
    assert set(np.round(costs, 6)) == {12.0, 2.0, round(12 / 9, 6)}
    half = link_cost(np.full(300, 0.5), np.random.default_rng(0))
    np.testing.assert_allclose(half, 2 * costs)


def test_profiles_and_budgets_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        Profile("stone", speed=0, power=1)
    with pytest.raises(ValueError, match="positive"):
        Budget(receive_share=0, transmit_share=1)
