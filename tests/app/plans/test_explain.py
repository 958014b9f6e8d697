"""Why and why not: the gain of each device that was asked for, in every round, beside that of the device picked."""

import json
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from app.http.problems import InvalidRequestError
from app.plans.answer import PickOut
from app.plans.planning import choose
from app.plans.request import PlanRequest
from app.settings import Settings
from app.wire.arrays import read_model
from app.wire.effort import Deadline
from tests.support.requests import random_request

SEARCHES = ("greedy", "greedy:coverage", "gcn_rank")


def picks(**parameters: Any) -> list[PickOut]:
    """The trace as it is answered; nothing is solved."""
    request = PlanRequest.model_validate(random_request(4, 12, sample_size=3, **parameters))
    choice = choose(request.to_domain(Settings()), Deadline.after(600))
    return [PickOut.from_domain(pick) for pick in choice.trace]


@pytest.mark.parametrize("sampler", [*SEARCHES, "local_search", "exhaustive", "gcn_branch"])
def test_every_round_tells_the_gain_of_everyone_who_could_be_picked(sampler: str) -> None:
    told = picks(sampler=sampler, explain_all=True)
    plain = picks(sampler=sampler)
    assert [pick.device for pick in told] == [pick.device for pick in plain]
    assert plain
    assert all(pick.gains is None for pick in plain)
    for number, pick in enumerate(told):
        assert pick.gains is not None
        gains = dict(zip(pick.gains.device, pick.gains.gain, strict=True))
        assert gains[pick.device] == pytest.approx(pick.score, rel=1e-6, abs=1e-9)
        if sampler in SEARCHES:
            assert pick.score >= max(gains.values()) - 1e-9 * abs(pick.score)
            assert not set(gains) & {earlier.device for earlier in told[:number]}
            assert len(gains) == 12 - number


def test_only_who_was_asked_for_is_told() -> None:
    told = [set() if pick.gains is None else set(pick.gains.device) for pick in picks(sampler="greedy", explain=[3, 7])]
    assert told[0] == {3, 7}
    assert all(one <= {3, 7} for one in told)
    assert picks(sampler="random", explain_all=True) == []


@pytest.mark.parametrize(
    ("explain", "words"), [([3, 3], "twice"), ([99], "12"), ([0.5], "integer"), ("all", "list"), (None, "list")]
)
def test_what_cannot_be_explained_is_refused(explain: Any, words: str) -> None:
    with pytest.raises((InvalidRequestError, ValidationError)) as refused:
        picks(sampler="greedy", explain=explain)
    text = refused.value.errors[0].detail if isinstance(refused.value, InvalidRequestError) else str(refused.value)
    assert words in text


def test_devices_and_all_at_once_are_refused() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        picks(sampler="greedy", explain=[3], explain_all=True)
    assert refused.value.errors[0].pointer == "/explain"


def test_more_gains_than_an_answer_may_have_are_refused() -> None:
    request = random_request(4, 400, sample_size=300, explain_all=True)
    with pytest.raises(InvalidRequestError) as refused:
        PlanRequest.model_validate(request).to_domain(Settings())
    assert refused.value.errors[0].pointer == "/explain_all"
    assert "120000 gains; at most 100000" in refused.value.errors[0].detail


def test_a_body_read_into_arrays_explains_too() -> None:
    body = json.dumps(random_request(4, 30, sampler="greedy", explain=[5])).encode()
    query = read_model(PlanRequest, body).to_domain(Settings())
    assert np.array_equal(query.explained, [5])
