"""POST /v1/plans against what it must be: constraints from the request, objectives from CVXPY."""

import gzip
import json
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.requests import check_plan, dense, matrix_of, random_request


def plan(client: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("budgets", ["loose", "tight", "scarce"])
@pytest.mark.parametrize("sampler", ["greedy", "heuristic", "random"])
def test_a_plan_keeps_every_constraint_of_the_request(client: httpx.Client, sampler: str, budgets: str) -> None:
    request = random_request(1, 20, budgets=budgets, sampler=sampler)
    answer = plan(client, request)
    check_plan(request, answer)
    assert answer["kind"] == "plan"
    assert {step["status"] for step in answer["steps"]} == {"optimal"}
    assert 0 <= answer["relative_gap"] <= 1e-6
    assert set(answer["timing_ms"]) == {"parse", "sample", "solve", "bound"}


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_solver_answers_cvxpys_objective(client: httpx.Client, seed: int) -> None:
    request = random_request(seed, 15, sampler="random", seed=seed)
    fast = plan(client, request)
    reference = plan(client, {**request, "solver": "cvxpy"})
    assert fast["sampled"] == reference["sampled"]
    check_plan(request, reference)
    # Steps follow one another, so that only the first solves the very same problem in both.
    np.testing.assert_allclose(fast["steps"][0]["objective"], reference["steps"][0]["objective"], rtol=1e-6)
    np.testing.assert_allclose(fast["objective"], reference["objective"], rtol=1e-5)


def test_matrices_in_and_out_say_the_same_as_links(client: httpx.Client) -> None:
    request = random_request(3, 12)
    sparse = plan(client, request)
    full = plan(client, {**dense(request), "output": "matrix"})
    assert sparse["sampled"] == full["sampled"]
    for one, other in zip(sparse["steps"], full["steps"], strict=True):
        np.testing.assert_allclose(matrix_of(one, 12), matrix_of(other, 12), atol=1e-12)


def test_a_schedule_changes_what_holds(client: httpx.Client) -> None:
    request = random_request(4, 15, sampled=[0, 1, 2])
    nothing = {"step": 3, "devices": {"transmit_budget": [0.0] * 15}}
    answer = plan(client, {**request, "schedule": [nothing]})
    moved = [sum(step["received"]) for step in answer["steps"]]
    assert min(moved[:2]) > 0
    assert max(moved[2:]) == 0


def test_a_fixed_set_and_a_limited_one(client: httpx.Client) -> None:
    fixed = plan(client, random_request(5, 15, sampled=[7, 2, 11]))
    assert fixed["sampled"] == [7, 2, 11]
    assert fixed["scores"] == []
    limited = plan(client, random_request(5, 15, eligible=[3, 4, 5, 6]))
    assert set(limited["sampled"]) <= {3, 4, 5, 6}
    assert len(limited["scores"]) == 3


def test_label_counts_are_a_matrix_with_a_row_per_device(client: httpx.Client) -> None:
    request = random_request(5, 15)
    columns = request["network"]["devices"]
    rng = np.random.default_rng(0)
    columns["label_counts"] = rng.integers(0, 50, (15, 4)).tolist()
    check_plan(request, plan(client, request))
    for counts, pointer, reason in (
        ([[1.0, 2.0]] * 14, "/network/devices/label_counts", "must have shape 15×?, has 14×2"),
        ([[1.0]] * 14 + [[1.0, 2.0]], "/network/devices/label_counts", "must have rows of equal length"),
        ([[1.0, 2.0]] * 14 + [[1.0, -2.0]], "/network/devices/label_counts/14/1", "must be 0 or from 1e-12 to 1e+12"),
    ):
        columns["label_counts"] = counts
        answer = client.post("/v1/plans", json=request)
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"pointer": pointer, "detail": reason}]


def test_label_counts_with_noise_may_be_negative(client: httpx.Client) -> None:
    request = random_request(5, 15)
    columns = request["network"]["devices"]
    noise = np.random.default_rng(0).laplace(0, 4, (15, 4))
    columns["label_counts"] = (np.random.default_rng(0).integers(0, 50, (15, 4)) + noise - 5).tolist()
    columns["label_noise"] = {"epsilon": 0.25}
    check_plan(request, plan(client, request))
    exact = {**columns}
    del exact["label_noise"]
    without = {**columns}
    del without["label_counts"]
    large = {**columns, "label_counts": [[-1e13, 0, 0, 0], *columns["label_counts"][1:]]}
    for devices, pointer, reason in (
        (without, "label_noise", "needs label_counts"),
        (
            {**columns, "label_noise": {"epsilon": 0}},
            "label_noise/epsilon",
            "Input should be greater than or equal to 0.000001",
        ),
        ({**columns, "label_noise": {}}, "label_noise/epsilon", "Field required"),
        (large, "label_counts/0/0", "must be 0 or from 1e-12 to 1e+12 in magnitude"),
    ):
        request["network"]["devices"] = devices
        answer = client.post("/v1/plans", json=request)
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"pointer": f"/network/devices/{pointer}", "detail": reason}]
    request["network"]["devices"] = exact
    assert client.post("/v1/plans", json=request).status_code == 422


def test_a_seed_decides(client: httpx.Client) -> None:
    drawn = [plan(client, random_request(6, 30, sampler="random", seed=seed))["sampled"] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@pytest.mark.parametrize("solver", ["fast", "cvxpy"])
def test_a_time_limit_still_gives_a_feasible_plan(client: httpx.Client, solver: str) -> None:
    request = random_request(7, 40, budgets="loose", horizon=200, sample_size=8, time_limit=1e-9, solver=solver)
    answer = plan(client, request)
    check_plan(request, answer)
    assert answer["status"] == "time_limit"
    assert 1e-6 < answer["relative_gap"] < 1


def test_a_dry_run_diagnoses(client: httpx.Client) -> None:
    request = random_request(8, 10, dry_run=True)
    columns = request["network"]["devices"]
    columns["data"][0] = 0.0
    columns["processing_capacity"][1] = 1.0
    columns["receive_capacity"][2] = 0.0
    columns["transmit_budget"][3] = 0.0
    answer = client.post("/v1/plans", json=request).json()
    assert answer["kind"] == "diagnosis"
    assert answer["feasible"]
    assert answer["eligible"] == 8
    assert [one["device"] for one in answer["obstacles"]] == [0, 1]
    assert answer["tight"]["receiving"]["devices"] == [2]
    assert 3 in answer["tight"]["transmitting"]["devices"]
    assert answer["connectivity"]["components"] == 1


def test_an_infeasible_request_names_devices_and_reasons(client: httpx.Client) -> None:
    request = random_request(9, 10, sample_size=9)
    request["network"]["devices"]["data"][4] = 0.0
    request["network"]["devices"]["processing_capacity"][6] = 1.0
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["type"] == "urn:fedsift:problem:infeasible"
    assert [one["device"] for one in problem["devices"]] == [4, 6]
    assert problem["devices"][0]["reason"] == "holds no data"
    fixed = client.post("/v1/plans", json={**request, "sample_size": 1, "sampled": [6]})
    assert fixed.status_code == 422
    assert fixed.json()["devices"][0]["device"] == 6


def test_gzip_is_read(client: httpx.Client) -> None:
    request = random_request(10, 10)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    packed = gzip.compress(json.dumps(request).encode())
    halves = gzip.compress(json.dumps(request).encode()[:100]) + gzip.compress(json.dumps(request).encode()[100:])
    for body in (packed, halves):
        answer = client.post("/v1/plans", content=body, headers=headers)
        assert answer.status_code == 200
        check_plan(request, answer.json())


def test_a_sampler_that_searches_tells_why_it_picked_each(client: httpx.Client) -> None:
    request = random_request(4, 30, sampler="gcn_branch", sample_size=4)
    plan = client.post("/v1/plans", json=request).json()
    assert [pick["device"] for pick in plan["trace"]] == plan["sampled"]
    first, *later = plan["trace"]
    assert "previous" not in first
    assert [pick["previous"] for pick in later] == plan["sampled"][:-1]
    for pick in plan["trace"]:
        assert pick["device"] in pick["candidates"]
        assert pick["score"] == max(pick["candidate_scores"])
    run = client.post("/v1/runs", json=request).json()
    assert run["trace"] == plan["trace"]
    searched = client.post("/v1/plans", json=random_request(4, 30, sampler="greedy")).json()
    assert [pick["device"] for pick in searched["trace"]] == searched["sampled"]
    assert "trace" not in client.post("/v1/plans", json=random_request(4, 30, sampler="random")).json()


def test_sending_once_sends_nothing_twice(client: httpx.Client) -> None:
    request = random_request(5, 12, budgets="loose", horizon=8, sampler="heuristic", sample_size=2)
    once = plan(client, {**request, "transfer": "send_once"})
    redrawn = plan(client, {**request, "transfer": "redraw"})
    assert (once["transfer"], redrawn["transfer"]) == ("send_once", "redraw")
    total: dict[tuple[int, int], float] = {}
    for step in once["steps"]:
        moves = step["transfers"]
        for pair, share in zip(zip(moves["source"], moves["target"], strict=True), moves["fraction"], strict=True):
            total[pair] = total.get(pair, 0.0) + share
    assert 0.9 < max(total.values()) <= 1 + 1e-9
    assert once["max_violation"] <= 1e-8
    assert once["objective"] <= redrawn["objective"] * (1 + 1e-6)
    assert once["datapoints_moved"] < redrawn["datapoints_moved"]


def test_the_whole_horizon_is_planned_at_once(client: httpx.Client) -> None:
    request = random_request(5, 12, budgets="loose", horizon=8, sampler="heuristic", sample_size=2)
    request |= {"transfer": "send_once"}
    whole = plan(client, {**request, "planning": "horizon"})
    by_steps = plan(client, request)
    assert (whole["planning"], by_steps["planning"]) == ("horizon", "step")
    assert whole["status"] == "optimal"
    assert whole["horizon_gap"] <= 1e-6
    assert whole["relative_gap"] == whole["horizon_gap"]
    assert whole["objective"] <= by_steps["objective"]
    refused = client.post("/v1/plans", json={**request, "transfer": "redraw", "planning": "horizon"})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {"pointer": "/planning", "detail": "horizon needs transfer send_once and solver fast"}
    ]


def test_an_unknown_transfer_is_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/plans", json=random_request(1, 12, transfer="twice"))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/transfer"


def test_weights_price_what_is_sent_and_processed(client: httpx.Client) -> None:
    request = random_request(6, 20, sampled=[0, 1, 2])
    free = plan(client, request)
    check_plan(request, free)
    for weights in ({"transmit": 2e-4}, {"processing": 2e-4}, {"transmit": 1e-4, "processing": 1e-4}):
        priced = plan(client, {**request, "weights": weights})
        check_plan({**request, "weights": weights}, priced)
        assert {step["status"] for step in priced["steps"]} == {"optimal"}
        assert priced["datapoints_moved"] < 0.9 * free["datapoints_moved"]
        assert priced["horizon_bound"] <= priced["objective"]


def test_a_bad_weight_is_named(client: httpx.Client) -> None:
    for weights, pointer in (({"transmit": -1.0}, "/weights/transmit"), ({"energy": 1.0}, "/weights/energy")):
        answer = client.post("/v1/plans", json=random_request(1, 12, weights=weights))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
