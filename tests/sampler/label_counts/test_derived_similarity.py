"""Similarity from label counts: the formula by hand, planted match rates, and few links."""

from typing import Any

import numpy as np
import pytest

from sampler.label_counts.derived_similarity import DEFAULT_RATE, derive_similarity, fit_match_rates

RATES = np.array([0.002, 0.01, 0.03, 0.08, 0.2])


def planted(seed: int, n: int, links: int, *, noise: float = 0.0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 40, (n, RATES.size)) * (rng.random((n, RATES.size)) < 0.5) + 1
    counts = held.astype(np.float64)
    data = counts.sum(axis=1)
    pairs = rng.choice(n * n, links, replace=False)
    source, target = pairs // n, pairs % n
    similarity = derive_similarity(counts, data, source, target, RATES)
    return counts, data, source, target, np.clip(similarity + rng.normal(0, noise, links), 0, 1)


def test_the_formula_by_hand() -> None:
    counts = np.array([[3.0, 1.0], [2.0, 0.0]])
    found = derive_similarity(counts, np.array([4.0, 2.0]), np.array([0, 1]), np.array([1, 0]), np.array([0.5, 0.1]))
    # Three quarters of the first device's data meet two datapoints of their class; all of the second's meet three.
    np.testing.assert_allclose(found, [0.75 * (1 - 0.5**2), 1 - 0.5**3])


def test_rates_are_found_again() -> None:
    counts, data, source, target, similarity = planted(0, 60, 1500)
    found = fit_match_rates(counts, data, source, target, similarity)
    assert found.fitted_on == 1500
    np.testing.assert_allclose(found.rates, RATES, rtol=0.1)
    noisy = fit_match_rates(*planted(0, 60, 1500, noise=0.07))
    np.testing.assert_allclose(noisy.rates, RATES, rtol=0.5)


@pytest.mark.parametrize(("links", "most"), [(3, 0.9), (20, 0.35), (100, 0.2)])
def test_few_links_help_already(links: int, most: float) -> None:
    counts, data, source, target, similarity = planted(1, 60, 1500)
    some = slice(0, links)

    def error(rates: Any) -> float:
        return float(np.sqrt(((derive_similarity(counts, data, source, target, rates) - similarity) ** 2).mean()))

    fitted = fit_match_rates(counts, data, source[some], target[some], similarity[some])
    assert error(fitted.rates) < most * error(np.full(5, DEFAULT_RATE))


def test_without_links_every_class_has_the_default() -> None:
    counts, data = planted(2, 5, 3)[:2]
    nobody = np.empty(0, np.int64)
    found = fit_match_rates(counts, data, nobody, nobody, np.empty(0))
    assert found.fitted_on == 0
    assert found.rates.tolist() == [DEFAULT_RATE] * 5


def test_extremes_stay_shares() -> None:
    counts, data, source, target, _ = planted(3, 20, 100)
    counts[0], data[1], data[2] = 0.0, 0.0, 1.0
    for value in (0.0, 1.0):
        found = fit_match_rates(counts, data, source, target, np.full(100, value))
        assert ((found.rates > 0) & (found.rates <= 1)).all()
        derived = derive_similarity(counts, data, source, target, found.rates)
        assert ((derived >= 0) & (derived <= 1)).all()


def test_many_classes_share_a_rate() -> None:
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 3, (50, 300)).astype(float)
    data = counts.sum(axis=1)
    source, target = np.divmod(np.arange(2500), 50)
    similarity = derive_similarity(counts, data, source, target, np.full(300, 0.05))
    found = fit_match_rates(counts, data, source, target, similarity)
    assert found.fitted_on == 500_000 // 300
    np.testing.assert_allclose(found.rates, 0.05, rtol=0.05)
