"""Samplers through the service: every one of them serves, and what one cannot do is said clearly."""

from typing import Any

import httpx
import pytest

from sampler import objective_names, sampler_names
from tests.support.requests import check_plan, random_request


@pytest.mark.parametrize(
    "sampler", [*sampler_names(), "local_search:surrogate", "greedy:coverage", "exhaustive:resemblance"]
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


@pytest.mark.parametrize("sampler", ["oracle", "greedy:luck", "random:coverage", "greedy:", ""])
def test_an_unknown_name_is_answered_with_the_known_ones(client: httpx.Client, sampler: str) -> None:
    problem = refused(client, random_request(1, 14, sampler=sampler))
    (error,) = problem["errors"]
    assert error["pointer"] == "/sampler"
    assert all(name in error["detail"] for name in (*sampler_names(), *objective_names()))
    assert "oracle" not in error["detail"]
    assert "luck" not in error["detail"]


def test_an_exhaustive_search_of_a_large_network_is_refused(client: httpx.Client) -> None:
    problem = refused(client, random_request(1, 200, sampler="exhaustive", sample_size=6))
    (error,) = problem["errors"]
    assert error["pointer"] == "/sampler"
    assert "6 of 200 devices" in error["detail"]
    assert "local_search" in error["detail"]


def test_an_objective_of_label_counts_needs_them(client: httpx.Client) -> None:
    (error,) = refused(client, random_request(1, 14, sampler="greedy:mixture"))["errors"]
    assert error == {"pointer": "/sampler", "detail": "this objective needs devices.label_counts"}
    request = random_request(1, 14, sampler="greedy:mixture")
    request["network"]["devices"]["label_counts"] = [[i % 3, 1, 2] for i in range(14)]
    assert client.post("/v1/plans", json=request).status_code == 200


@pytest.mark.parametrize(("size", "status"), [(0, "invalid"), (-1, "invalid"), (15, "invalid"), (14, "infeasible")])
def test_sizes_that_cannot_be_are_refused(client: httpx.Client, size: int, status: str) -> None:
    request = random_request(1, 14, sample_size=size)
    request["network"]["devices"]["data"][3] = 0.0
    assert refused(client, request)["type"] == f"urn:fedsift:problem:{status}"


def test_the_list_says_what_each_can_search_by(client: httpx.Client) -> None:
    listed = {one["name"]: one for one in client.get("/v1/samplers").json()["samplers"]}
    assert sorted(listed) == list(sampler_names())
    assert listed["greedy"]["objectives"][0] == "balance"
    assert sorted(listed["greedy"]["objectives"]) == list(objective_names())
    assert "objectives" not in listed["random"]
    assert listed["local_search"]["description"].startswith("Swap devices")
