"""Ranks with ties and undominated rows, as pure functions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.comparisons.ranking import ranks, undominated

COSTS = arrays.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(0, 4))
VALUES = st.lists(st.floats(0, 10), min_size=1, max_size=20)


def beats(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((one <= other).all() and (one < other).any())


@given(COSTS)
def test_undominated_rows_are_those_that_no_other_beats(costs: np.ndarray) -> None:
    found = undominated(costs)
    assert found.tolist() == [not any(beats(other, one) for other in costs) for one in costs]
    assert found.any()
    for one in costs[~found]:
        assert any(beats(other, one) for other in costs[found]), "whatever is beaten is beaten by one that is not"


@given(COSTS, st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(costs: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(costs))
    assert undominated(costs)[order].tolist() == undominated(costs[order]).tolist()


@given(VALUES)
def test_without_widths_ranks_count_the_smaller_values(values: list[float]) -> None:
    found = ranks(values, [0.0] * len(values))
    assert found.tolist() == [1 + sum(other < value for other in values) for value in values]


@given(VALUES, st.floats(0, 3))
def test_a_smaller_value_never_has_a_larger_rank(values: list[float], width: float) -> None:
    found = ranks(values, [width] * len(values))
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert found.min() == 1
    best = min(values)
    assert all((rank == 1) == (value - best <= width) for value, rank in zip(values, found.tolist(), strict=True))


def test_a_chain_of_small_differences_is_not_one_tie() -> None:
    assert ranks([1.0, 1.9, 2.8, 3.7], [1.0] * 4).tolist() == [1, 1, 3, 3]


def test_the_larger_width_of_two_decides() -> None:
    assert ranks([1.0, 1.5, 9.0], [0.0, 0.6, 0.0]).tolist() == [1, 1, 3]
    assert ranks([1.0, 1.5, 9.0], [0.6, 0.0, 0.0]).tolist() == [1, 1, 3]
    assert ranks([1.0, 1.5, 9.0], [0.0, 0.4, 0.0]).tolist() == [1, 2, 3]
