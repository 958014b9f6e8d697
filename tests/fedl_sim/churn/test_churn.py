"""Settings of churn are checked when they are made."""

import math

import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.errors import InvalidSettingError


def test_a_life_is_as_long_as_the_loss_says() -> None:
    assert Churn().mean_life == math.inf
    # A device survives a period with the chance exp(−1/mean).
    assert math.exp(-1 / Churn(loss=0.2).mean_life) == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["loss", "straggling", "lost_transfers", "drift"])
@pytest.mark.parametrize("value", [-0.1, 1.0, math.nan])
def test_a_chance_lies_below_one(name: str, value: float) -> None:
    with pytest.raises(InvalidSettingError, match=name):
        Churn(**{name: value})  # type: ignore[arg-type]


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(InvalidSettingError, match="absence"):
        Churn(absence=0.0)
    with pytest.raises(InvalidSettingError, match="either a trace or a loss"):
        Churn(loss=0.1, trace="trace.csv")
