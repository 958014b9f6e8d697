"""Drifting data: how much of it changes, and into what."""

import numpy as np
import pytest

from fedl_sim.churn.drift import Drift
from fedl_sim.data.datasets import load_data_set
from fedl_sim.network.partition import partition_by_labels

DIGITS = load_data_set("digits").train
PARTITION = partition_by_labels(DIGITS, 30, np.random.default_rng(0), mean_datapoints=200, labels_per_device=2)


def test_a_share_changes_in_each_period_and_stays_changed() -> None:
    drift = Drift.of(DIGITS, PARTITION, 0.1, seed=4)
    np.testing.assert_array_equal(drift.at(1).indices, PARTITION.indices)
    before = np.zeros(len(PARTITION.indices), np.bool_)
    for period in range(2, 8):
        changed = drift.at(period).indices != PARTITION.indices
        assert (changed | ~before).all()
        before = changed
    # Some are replaced by the same image.
    assert 1 - 0.9**6 - 0.05 < before.mean() < 1 - 0.9**6 + 0.02


def test_a_device_gets_as_many_new_labels_as_it_had() -> None:
    counts = Drift.of(DIGITS, PARTITION, 0.9, seed=4).at(100).label_counts(DIGITS)
    assert ((counts > 0).sum(axis=1) <= 2).all()
    others = (counts > 0) != (PARTITION.label_counts(DIGITS) > 0)
    assert others.any(axis=1).mean() > 0.8


def test_sizes_stay_and_no_drift_changes_nothing() -> None:
    np.testing.assert_array_equal(Drift.of(DIGITS, PARTITION, 0.5, seed=1).at(9).sizes, PARTITION.sizes)
    np.testing.assert_array_equal(Drift.of(DIGITS, PARTITION, 0.0, seed=1).at(9).indices, PARTITION.indices)


@pytest.mark.parametrize("seed", [4, 5])
def test_the_seed_decides(seed: int) -> None:
    one, two = (Drift.of(DIGITS, PARTITION, 0.3, seed=s).at(5).indices for s in (4, seed))
    assert np.array_equal(one, two) == (seed == 4)
