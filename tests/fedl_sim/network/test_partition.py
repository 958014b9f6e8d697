import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.partition import Partition, partition_by_dirichlet, partition_by_labels

DIGITS = load_data_set("digits").train


def test_every_device_has_three_labels_and_overlaps_with_others() -> None:
    partition = partition_by_labels(DIGITS, 50, np.random.default_rng(0), mean_datapoints=100)
    counts = partition.label_counts(DIGITS)
    np.testing.assert_array_equal((counts > 0).sum(axis=1), 3)
    np.testing.assert_array_equal(counts.sum(axis=1), partition.sizes)
    # With replacement: 100 draws from about 430 images repeat some, within a device and across.
    assert any(len(np.unique(partition.of(i))) < partition.sizes[i] for i in range(50))


def test_sizes_follow_the_normal_law() -> None:
    sizes = partition_by_labels(DIGITS, 4000, np.random.default_rng(1), mean_datapoints=100).sizes
    assert sizes.mean() == pytest.approx(100, abs=0.3)
    assert sizes.var() == pytest.approx(20, rel=0.1)


def test_by_default_the_split_is_shared_out() -> None:
    partition = partition_by_labels(DIGITS, 10, np.random.default_rng(2))
    assert partition.sizes.mean() == pytest.approx(len(DIGITS) / 10, rel=0.1)


def test_labels_are_spread_evenly() -> None:
    counts = partition_by_labels(DIGITS, 2000, np.random.default_rng(3), mean_datapoints=10).label_counts(DIGITS)
    share = (counts > 0).mean(axis=0)
    np.testing.assert_allclose(share, 0.3, atol=0.05)


def test_memory_is_one_integer_per_datapoint() -> None:
    partition = partition_by_labels(DIGITS, 300, np.random.default_rng(4), mean_datapoints=20)
    assert partition.indices.nbytes == 8 * partition.sizes.sum()
    assert partition.of(7).base is partition.indices


@pytest.mark.parametrize(("labels", "mean"), [(0, 10), (11, 10), (3, 0)])
def test_impossible_settings_are_refused(labels: int, mean: float) -> None:
    with pytest.raises(ValueError, match=r"labels|mean"):
        partition_by_labels(DIGITS, 3, np.random.default_rng(0), mean_datapoints=mean, labels_per_device=labels)


def test_starts_must_fit_the_indices() -> None:
    with pytest.raises(ValueError, match="starts"):
        Partition(np.arange(3), np.array([0, 2]))


def test_a_small_concentration_skews_labels_and_a_large_one_does_not() -> None:
    def largest_share(concentration: float) -> float:
        partition = partition_by_dirichlet(
            DIGITS, 300, np.random.default_rng(4), concentration=concentration, mean_datapoints=100
        )
        counts = partition.label_counts(DIGITS)
        return float((counts.max(axis=1) / counts.sum(axis=1)).mean())

    assert largest_share(0.1) > 0.6
    assert 0.1 < largest_share(100.0) < 0.2
    with pytest.raises(InvalidSettingError, match="must be positive, not 0"):
        partition_by_dirichlet(DIGITS, 3, np.random.default_rng(0), concentration=0)
