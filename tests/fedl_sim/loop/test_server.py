from collections.abc import Iterator

import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import Softmax
from fedl_sim.loop.devices import LocalUpdate, TrainingSettings, local_steps
from fedl_sim.loop.server import aggregate, last_of_each, observe

DIGITS = load_data_set("digits")
ENGINE = CompiledEngine(Softmax(64), DIGITS.train, DIGITS.test, dtype=np.float64)


def test_aggregation_weighs_by_the_data_of_the_period() -> None:
    updates = [LocalUpdate(0, np.array([1.0, 0.0]), 30), LocalUpdate(1, np.array([5.0, 4.0]), 10)]
    np.testing.assert_allclose(aggregate(updates), [2.0, 1.0])
    with pytest.raises(ValueError, match="nobody trained"):
        aggregate([LocalUpdate(0, np.zeros(2), 0)])


def test_a_period_is_one_epoch_per_step_and_counts_its_data() -> None:
    w = np.zeros(650)
    steps = [(1, np.arange(20)), (2, np.arange(25))]
    settings = TrainingSettings(learning_rate=0.1, batch_size=100)
    *_, update = local_steps(ENGINE, w, 3, steps, settings, seed=0)
    # Batches larger than the data: each step is a plain gradient step, eq. (2).
    for _, indices in steps:
        w = w - 0.1 * ENGINE.gradient(w, indices).gradient
    assert (update.device, update.datapoints) == (3, 45)
    np.testing.assert_allclose(update.parameters, w, atol=1e-12)


def test_observation_is_the_weighted_mean_gradient_and_the_spread_within_devices() -> None:
    w = 0.01 * np.random.default_rng(0).standard_normal(650)
    data = [np.arange(40), np.arange(40, 50)]
    seen = observe(ENGINE, w, data, threads=2)
    pooled = ENGINE.gradient(w, np.arange(50)).gradient
    assert seen.gradient_norm == pytest.approx(np.linalg.norm(pooled), rel=1e-9)
    variance = 0.0
    for indices in data:
        each = np.stack([ENGINE.gradient(w, indices[i : i + 1]).gradient for i in range(len(indices))])
        variance += len(indices) / 50 * ((each - each.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert seen.gradient_noise == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_settings_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        TrainingSettings(learning_rate=0)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_interleaved_jobs_each_give_their_last_value(threads: int) -> None:
    jobs = [iter(range(n * 10, n * 10 + n + 1)) for n in range(5)]
    assert last_of_each(jobs, threads) == [0, 11, 22, 33, 44]


def test_a_failing_job_is_heard() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError("diverged")

    with pytest.raises(RuntimeError, match="diverged"):
        last_of_each([broken(), iter([1])], 2)
    with pytest.raises(ValueError, match="no steps"):
        last_of_each([iter([])], 2)
