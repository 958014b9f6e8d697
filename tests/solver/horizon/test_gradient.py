import pytest
from numpy.testing import assert_allclose

from solver import GradientModel, InvalidInputError, observed_decay


def test_without_observations_the_norm_decays_from_step_zero() -> None:
    assert_allclose(GradientModel(8.0, 2.0).norms(1, 3), [4.0, 2.0, 1.0])
    assert_allclose(GradientModel().norms(1, 4), [1.0] * 4)


def test_an_observation_sets_norm_and_decay_for_the_next_period() -> None:
    # From 16 to 4 in τ = 2 steps: α = (16/4)^(1/2) = 2, so 4/2, 4/4 follow.
    model = GradientModel(16.0).observe(4.0, period=2)
    assert model.since == 2
    assert model.decay == pytest.approx(2.0)
    assert_allclose(model.norms(3, 4), [2.0, 1.0])


def test_one_observation_leaves_the_decay_as_it_was() -> None:
    # α takes two norms, and a norm that nobody gave is none of them.
    first = GradientModel(decay=1.25).observe(0.1, period=2)
    assert (first.norm, first.decay, first.since) == (0.1, 1.25, 2)
    assert first.observe(0.025, period=2).decay == pytest.approx(2.0)


def test_a_gradient_that_grew_is_held() -> None:
    assert observed_decay(1.0, 3.0, 5) == 1.0
    assert_allclose(GradientModel(1.0).observe(3.0, 5).norms(6, 10), [3.0] * 5)


def test_a_vanished_gradient_stays_zero() -> None:
    assert_allclose(GradientModel(1.0).observe(0.0, 5).norms(6, 7), [0.0, 0.0])
    assert observed_decay(0.0, 0.0, 5) == 1.0


def test_a_long_horizon_underflows_to_zero_without_a_warning() -> None:
    assert GradientModel(1.0, 1e6).norms(1, 500)[-1] == 0.0


def test_bad_numbers_are_named() -> None:
    with pytest.raises(InvalidInputError, match="gradient.decay: must be at least 1, is 0.5"):
        GradientModel(decay=0.5)
    with pytest.raises(InvalidInputError, match="gradient.norm: must be at least 0, is -1"):
        GradientModel(norm=-1)
    with pytest.raises(InvalidInputError, match="gradient_norm: must be finite, is nan"):
        GradientModel().observe(float("nan"), 5)
    with pytest.raises(InvalidInputError, match="aggregation_period: must be at least 1, is 0"):
        GradientModel().observe(1.0, 0)
