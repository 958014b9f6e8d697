import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sampler.objectives.lazy import lazy_maximum

numbers = st.floats(-10, 10, allow_nan=False)


@settings(deadline=None)  # a busy machine stops any test for a second
@given(arrays(float, st.integers(1, 60), elements=numbers), st.integers(0, 100))
def test_it_finds_the_largest_value_under_any_bounds(values: np.ndarray, seed: int) -> None:
    bounds = values + np.random.default_rng(seed).exponential(size=len(values))
    place, found = lazy_maximum(bounds, lambda places: values[places])
    assert found == values.max() == values[place]


@settings(deadline=None)
@given(arrays(float, st.integers(1, 120), elements=numbers), st.integers(0, 100))
def test_closer_bounds_are_asked_for_first(values: np.ndarray, seed: int) -> None:
    generator = np.random.default_rng(seed)
    closer = values + generator.exponential(0.01, size=len(values))
    asked: list[int] = []

    def tighten(places: np.ndarray) -> np.ndarray:
        asked.extend(places)
        return np.asarray(closer[places])

    def look(places: np.ndarray) -> np.ndarray:
        assert set(places) <= set(asked)
        return np.asarray(values[places])

    bounds = closer + generator.exponential(size=len(values))
    place, found = lazy_maximum(bounds, look, tighten=tighten)
    assert found == values.max() == values[place]
    assert len(set(asked)) == len(asked)


def test_tight_bounds_save_most_of_the_work() -> None:
    values = np.random.default_rng(0).random(1000)
    looked: list[int] = []

    def look(places: np.ndarray) -> np.ndarray:
        looked.extend(places)
        return np.asarray(values[places])

    lazy_maximum(values + 0.001, look)
    assert len(looked) < 30
    assert len(set(looked)) == len(looked)


def test_a_single_place_of_no_value_is_still_the_best() -> None:
    assert lazy_maximum(np.array([-5.0]), lambda places: np.full(len(places), -7.0)) == (0, -7.0)
