"""Samplers through the service: every one of them serves, and what one cannot do is said clearly."""

from typing import Any

import httpx
import pytest

from sampler import SERVED_OBJECTIVES, objective_names, sampler_names, served_samplers
from tests.support.requests import check_plan, random_request


@pytest.mark.parametrize(
    "sampler", [*served_samplers(), "local_search:surrogate", "greedy:coverage", "exhaustive:balance"]
)
def test_every_sampler_serves(client: httpx.Client, sampler: str) -> None:
    request = random_request(1, 14, sampler=sampler)
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code == 200, answer.text
    check_plan(request, answer.json())
    assert len(answer.json()["scores"]) == 3


def refused(client: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    return problem


FOR_STUDIES = sorted(set(sampler_names()) - set(served_samplers()))
OBJECTIVES_FOR_STUDIES = [f"greedy:{name}" for name in objective_names() if name not in SERVED_OBJECTIVES]
UNKNOWN = ["oracle", "greedy:luck", "random:coverage", "greedy:", ""]


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("sampler", [*UNKNOWN, *FOR_STUDIES, *OBJECTIVES_FOR_STUDIES])
def test_an_unknown_name_is_answered_with_the_known_ones(client: httpx.Client, sampler: str, *, dry_run: bool) -> None:
    problem = refused(client, {**random_request(1, 14, sampler=sampler), "dry_run": dry_run})
    (error,) = problem["errors"]
    assert error["pointer"] == "/sampler"
    assert error["detail"] == (
        "must be one of exhaustive, gcn_branch, gcn_rank, greedy, heuristic, local_search, random; and of those that "
        "search, NAME:OBJECTIVE with one of balance, coverage, surrogate"
    )


def test_a_fixed_set_does_not_excuse_an_unknown_sampler(client: httpx.Client) -> None:
    (error,) = refused(client, {**random_request(1, 14, sampler="oracle"), "sampled": [1, 2, 3]})["errors"]
    assert error["pointer"] == "/sampler"


def test_an_exhaustive_search_of_a_large_network_is_refused(client: httpx.Client) -> None:
    problem = refused(client, random_request(1, 200, sampler="exhaustive", sample_size=6))
    (error,) = problem["errors"]
    assert error["pointer"] == "/sampler"
    assert "6 of 200 devices" in error["detail"]
    assert "local_search" in error["detail"]


def test_balance_chooses_by_label_counts_where_there_are_any(client: httpx.Client) -> None:
    request = random_request(1, 14, sampler="greedy:balance")
    without = client.post("/v1/plans", json=request).json()
    request["network"]["devices"]["label_counts"] = [[100 * (i in {0, 5}), 1, 100 * (i == 9)] for i in range(14)]
    assert sorted(client.post("/v1/plans", json=request).json()["sampled"]) != sorted(without["sampled"])


@pytest.mark.parametrize(("size", "status"), [(0, "invalid"), (-1, "invalid"), (15, "invalid"), (14, "infeasible")])
def test_sizes_that_cannot_be_are_refused(client: httpx.Client, size: int, status: str) -> None:
    request = random_request(1, 14, sample_size=size)
    request["network"]["devices"]["data"][3] = 0.0
    assert refused(client, request)["type"] == f"urn:fedsift:problem:{status}"


def test_the_list_says_what_each_can_search_by(client: httpx.Client) -> None:
    listed = {one["name"]: one for one in client.get("/v1/samplers").json()["samplers"]}
    assert sorted(listed) == list(served_samplers())
    for name in ("greedy", "local_search", "exhaustive"):
        assert listed[name]["objectives"] == ["balance", "coverage", "surrogate"]
    assert "objectives" not in listed["random"]
    assert listed["local_search"]["description"].startswith("Swap devices")
