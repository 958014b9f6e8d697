"""Paired statistics against SciPy's own and a case worked by hand."""

import numpy as np
import pytest
from scipy import stats

from fedl_sim.paired import holm, paired


def test_mean_interval_and_p_are_those_of_the_textbook() -> None:
    one, two = np.random.default_rng(0).normal(size=(2, 12)) + np.array([[0.6], [0.0]])
    found = paired(one - two)
    student = stats.ttest_rel(one, two)
    assert found.mean == pytest.approx((one - two).mean())
    assert (found.low, found.high) == pytest.approx(tuple(student.confidence_interval(0.95)))
    assert found.p_value == pytest.approx(stats.wilcoxon(one, two).pvalue)
    assert 0 < found.p_value < 1


def test_equal_methods_differ_by_nothing() -> None:
    found = paired(np.zeros(12))
    assert (found.mean, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert paired(np.array([0.5])).text() == "+0.500 [+0.500, +0.500]"


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9, 0.001]) == pytest.approx([1.0, 1.0, 0.003])
    assert holm([]) == []
