"""The way from a query to a plan, where other tests do not go through the API."""

import numpy as np
import pytest

from app.http.problems import OverloadedError
from app.plans import planning
from app.plans.planning import choose
from app.plans.request import PlanRequest
from app.settings import Settings
from app.wire.effort import Deadline
from tests.support.requests import random_request


def test_work_that_was_ended_while_it_was_read_samples_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def sample(*_: object, **__: object) -> None:
        raise AssertionError("a sampler was asked for")

    query = PlanRequest.model_validate(random_request(4, 12, sample_size=3)).to_domain(Settings())
    ended = Deadline(ends=np.inf, flag=np.ones(1, np.uint8))
    monkeypatch.setattr(planning, "find_sampler", sample)
    with pytest.raises(OverloadedError):
        choose(query, ended)
