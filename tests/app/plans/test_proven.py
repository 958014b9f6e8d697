"""A bound that a plan contradicts is an error in the library; the service answers the plan and proves nothing of it."""

from dataclasses import replace

import pytest

from app.plans import planning
from app.plans.answer import proofs
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.settings import Settings
from solver import FalseProofError, plan_offloading, proven_gap
from solver.step.solution import FEASIBILITY
from tests.support.requests import random_request
from tests.support.schedules import the_load_ends


def test_a_gap_below_zero_is_an_error_and_rounding_is_none() -> None:
    assert proven_gap(2.0, 1.5) == 0.25
    assert proven_gap(2.0, 2.0 * (1 + FEASIBILITY / 2)) == 0.0
    assert proven_gap(2.0, 2.0 * (1 + 1e-5), violation=1e-4) == 0.0
    assert proven_gap(0.0, 0.0) == 0.0
    with pytest.raises(FalseProofError, match=r"2\.0.*2\.00002"):
        proven_gap(2.0, 2.00002)


def test_a_plan_does_not_hide_a_false_bound() -> None:
    plan = plan_offloading(the_load_ends(), [0], horizon=4)
    assert plan.objective is not None
    with pytest.raises(FalseProofError):
        _ = replace(plan, horizon_bound=1.001 * plan.objective).horizon_gap


def test_a_false_bound_is_logged_and_the_plan_is_answered_without_a_proof(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(planning, "set_bound", lambda *_: 1e3)
    result = make_plan(PlanRequest.model_validate(random_request(4, 12)).to_domain(Settings()))
    known = proofs(result)
    assert (known["set_bound"], known["set_gap"]) == (0.0, 1.0)
    assert 0 <= known["horizon_gap"] < 1e-6
    (told,) = caplog.records
    assert told.levelname == "ERROR"
    assert str(result.plan.sampled.tolist()) in told.message
    assert told.exc_info is not None
    assert "1000.0" in str(told.exc_info[1])
