"""Label histograms: exact ones, and ones with noise of the stated scale."""

from random import Random

import numpy as np
import pytest

from fedsift_client import InputError, sketch


def test_counts_are_the_labels() -> None:
    made = sketch(["car", "bus", "car"])
    assert made.label_counts == {"bus": 1.0, "car": 2.0}
    assert made.datapoints == 3
    assert made.epsilon is None


def test_numbers_of_numpy_and_of_python_are_one_class() -> None:
    assert sketch(np.array([3, 1, 3]), range(5)).label_counts == {"0": 0, "1": 1, "2": 0, "3": 2, "4": 0}


def test_noise_has_the_laplace_distribution_of_scale_one_over_epsilon() -> None:
    made = sketch([0] * 50, range(20_000), epsilon=0.25, random=Random(7))
    noise = np.array(list(made.label_counts.values())) - ([50] + [0] * 19_999)
    assert abs(noise.mean()) < 0.15
    # The mean of |noise| is the scale, its standard deviation over 20,000 draws 4/√20,000 = 0.03.
    assert abs(np.abs(noise).mean() - 4) < 0.15
    assert abs(np.median(np.abs(noise)) - 4 * np.log(2)) < 0.15
    assert made.datapoints == 50


def test_noise_is_fresh_unless_asked_for_otherwise() -> None:
    def counts(random: Random | None) -> dict[str, float]:
        return sketch([0, 1], range(3), epsilon=1, random=random).label_counts

    assert counts(None) != counts(None)
    assert counts(Random(1)) == counts(Random(1))


@pytest.mark.parametrize(
    ("labels", "classes", "epsilon", "said"),
    [
        ([1], None, 1.0, "name all classes"),
        ([1], [0], None, "labels of no class: 1"),
        ([1], [1, 1], None, "named twice"),
        ([1], [1], 0.0, "must be positive"),
        ([1], [1], float("inf"), "must be positive"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    labels: list[int], classes: list[int] | None, epsilon: float | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        sketch(labels, classes, epsilon=epsilon)
