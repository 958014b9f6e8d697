import numpy as np
import pytest

from sampler.rivals.model_based import (
    Observations,
    sample_by_gradient_coverage,
    sample_by_power_of_choice,
    sample_by_utility,
)
from tests.support.sampling import network, problem


def observations(**changes: np.ndarray) -> Observations:
    generator = np.random.default_rng(0)
    n = 12
    values = {"loss": generator.random(n), "square": generator.random(n), "gradient": generator.normal(size=(n, 5))}
    return Observations(**(values | changes))


def test_utility_is_data_times_gradient_less_for_the_slow() -> None:
    net = network(processing_capacity=np.r_[np.full(11, 600.0), 60.0], data=np.full(12, 50.0))
    seen = observations(square=np.arange(12.0) ** 2)
    chosen = sample_by_utility(problem(net, 3), seen, np.random.default_rng(0))
    # Device 11 has the largest gradients but takes ten times as long as the others.
    np.testing.assert_array_equal(chosen.sampled, [10, 9, 8])
    np.testing.assert_allclose(chosen.scores, [500, 450, 400])
    alone = sample_by_utility(problem(net, 12), seen, np.random.default_rng(0))
    assert alone.scores[alone.sampled == 11] == pytest.approx(50 * 11 / 10**2)


def test_power_of_choice_takes_the_highest_losses_of_those_it_asks() -> None:
    net = network(data=np.r_[np.full(6, 1e-3), np.full(6, 50.0)])
    seen = observations(loss=-np.arange(12.0))
    counts = np.zeros(12)
    for seed in range(200):
        chosen = sample_by_power_of_choice(problem(net, 3), seen, np.random.default_rng(seed))
        counts[chosen.sampled] += 1
        np.testing.assert_allclose(chosen.scores, seen.loss[chosen.sampled])
    # Six are asked, all but surely the six with data; of these the first three have the highest losses.
    np.testing.assert_array_equal(np.flatnonzero(counts > 190), [6, 7, 8])


def test_gradients_of_every_kind_are_covered() -> None:
    kinds = np.repeat(np.eye(3), 4, axis=0)
    seen = observations(gradient=kinds + np.random.default_rng(1).normal(0, 0.01, (12, 3)))
    chosen = sample_by_gradient_coverage(problem(network(), 3), seen, np.random.default_rng(0))
    assert sorted(chosen.sampled // 4) == [0, 1, 2]
    assert chosen.guarantee is not None
    assert chosen.guarantee > 0.9


def test_one_gradient_that_stands_for_most_beats_one_that_is_far_from_all() -> None:
    place = np.r_[np.linspace(-0.1, 0.1, 9), 5.0, -5.0, 4.0][:, None]
    chosen = sample_by_gradient_coverage(problem(network(), 1), observations(gradient=place), np.random.default_rng(0))
    assert chosen.sampled[0] < 9


def test_equal_gradients_are_no_fault() -> None:
    seen = observations(gradient=np.ones((12, 5)))
    assert len(sample_by_gradient_coverage(problem(network(), 3), seen, np.random.default_rng(0)).sampled) == 3


@pytest.mark.parametrize("change", [{"square": np.ones(11)}, {"gradient": np.ones(12)}, {"gradient": np.ones((11, 2))}])
def test_observations_check_themselves(change: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="of each device"):
        observations(**change)
