"""POST /v1/comparisons through the service."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fleets import FLEET
from tests.support.requests import random_request
from tests.support.server import running_server
from tests.support.waiting import until


def body(n_devices: int = 15, **lists: Any) -> dict[str, Any]:
    request = {**random_request(2, n_devices), "sample_sizes": [2], "time_limit": 60.0, **lists}
    del request["sample_size"]
    return request


def compare(client: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/v1/comparisons", json=request)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_rows_groups_and_differences_agree_with_plans(client: httpx.Client) -> None:
    asked = body(
        samplers=["greedy", "random"],
        sample_sizes=[2, 3],
        seeds=[4, 5],
        baseline={"sampler": "random", "sample_size": 3, "seed": 5},
    )
    found = compare(client, asked)
    assert found["complete"]
    assert (found["n_devices"], found["horizon"], len(found["rows"]), len(found["groups"])) == (15, 6, 8, 4)
    base = found["rows"][found["baseline"]]
    assert (base["sampler"], base["sample_size"], base["seed"]) == ("random", 3, 5)
    for row in found["rows"]:
        alone = {name: row[name] for name in ("sampler", "sample_size", "seed")}
        shared = {name: asked[name] for name in ("network", "horizon")}
        plan = client.post("/v1/plans", json={**shared, **alone}).json()
        for name in ("sampled", "objective", "horizon_bound", "set_bound", "transmit_cost", "processing_cost"):
            assert row[name] == pytest.approx(plan[name], rel=1e-9), name
        assert row["datapoints_sent"] == pytest.approx(plan["datapoints_moved"])
        assert row["datapoints_useful"] == pytest.approx(sum(sum(step["received"]) for step in plan["steps"]))
        assert row["difference"]["objective"] == row["objective"] - base["objective"]
        assert 0 < row["coverage"] <= 1
        assert row["timing_ms"].keys() == {"sample", "solve"}
    for group in found["groups"]:
        objectives = [found["rows"][i]["objective"] for i in group["rows"]]
        assert group["objective"]["mean"] == pytest.approx(sum(objectives) / 2)
        assert group["objective"]["low"] <= group["objective"]["mean"] <= group["objective"]["high"]
        assert group["set_bound"] <= min(objectives)
    assert any(row["pareto"] for row in found["rows"])


def test_a_row_is_held_against_the_same_seed_size_and_budgets_unless_the_baseline_names_them(
    client: httpx.Client,
) -> None:
    lists: dict[str, Any] = {"samplers": ["greedy", "random"], "sample_sizes": [2, 3]}
    lists |= {"budget_scales": [1.0, 0.1], "seeds": [4, 5, 6]}
    found = compare(client, body(**lists, baseline={"sampler": "random"}))
    rows, shared = found["rows"], ("sample_size", "budget_scale", "seed")
    assert found["baseline"] == 3
    for row in rows:
        base = rows[row["difference"]["baseline"]]
        assert base["sampler"] == "random"
        assert [row[name] for name in shared] == [base[name] for name in shared]
        assert row["difference"]["objective"] == row["objective"] - base["objective"]
    for group in found["groups"]:
        paired = group["difference"]
        assert found["groups"][paired["baseline"]]["sampler"] == "random"
        differences = [rows[i]["difference"]["objective"] for i in group["rows"]]
        assert paired["objective"]["mean"] == pytest.approx(sum(differences) / 3, abs=1e-12)
        assert paired["pairs"] == 3
    # A named budget is held fixed; the sampler, size and seed are then the row's own.
    scaled = compare(client, body(**lists, baseline={"budget_scale": 1.0}))["rows"]
    assert all(scaled[row["difference"]["baseline"]]["budget_scale"] == 1.0 for row in scaled)
    assert all(scaled[row["difference"]["baseline"]]["sampler"] == row["sampler"] for row in scaled)


@pytest.mark.parametrize(
    ("lists", "baselines"),
    [
        ({"samplers": ["greedy", "random"], "sample_sizes": [2, 3]}, [0, 0, 2, 2]),
        ({"samplers": ["random"], "sample_sizes": [2, 3], "seeds": [0, 1]}, [0, 1, 0, 1]),
        ({"samplers": ["random"], "budget_scales": [1.0, 0.5], "seeds": [0, 1]}, [0, 1, 0, 1]),
        ({"samplers": ["random"], "seeds": [0, 1]}, [0, 1]),
        ({"samplers": ["greedy", "random"], "baseline": {}}, [0, 0]),
    ],
)
def test_without_a_baseline_the_first_of_what_is_compared_is_taken(
    client: httpx.Client, lists: dict[str, Any], baselines: list[int]
) -> None:
    rows = compare(client, body(**lists))["rows"]
    assert [row["difference"]["baseline"] for row in rows] == baselines


def test_seeds_that_choose_the_same_devices_are_tied(client: httpx.Client) -> None:
    rows = compare(client, body(samplers=["heuristic"], seeds=[0, 1, 2]))["rows"]
    assert len({tuple(row["sampled"]) for row in rows}) == 1
    assert [row["rank"] for row in rows] == [1, 1, 1]
    assert all(row["difference"]["tied"] for row in rows)


def test_less_budget_is_never_better(client: httpx.Client) -> None:
    rows = compare(client, body(samplers=["heuristic"], budget_scales=[1.0, 0.1, 0.01]))["rows"]
    objectives = [row["objective"] for row in rows]
    assert objectives == sorted(objectives)
    assert rows[0]["datapoints_sent"] > rows[2]["datapoints_sent"]


def test_a_fleet_has_ids_and_joules_also_if_it_is_stored(client: httpx.Client) -> None:
    devices = [{**device, "joules_per_sample": 0.02} for device in FLEET["devices"]]
    fleet = {**FLEET, "devices": devices}
    lists = {"horizon": 2, "samplers": ["heuristic", "random"], "sample_sizes": [1, 2]}
    found = compare(client, {"fleet": fleet, **lists})
    assert found["rows"][0]["sampled_ids"] == ["hub"]
    assert found["rows"][0]["energy"]["processing"] > 0
    assert found["rows"][1]["difference"]["joules"] != 0
    assert found["groups"][0]["joules"]["mean"] == pytest.approx(sum(found["rows"][0]["energy"].values()))
    assert found["fleet"]["links_left_out"]["across_groups"] == 1
    stored = client.post("/v1/networks", json={"fleet": fleet}).json()["id"]
    again = compare(client, {"network_id": stored, **lists})
    assert (again["network_id"], again["network_version"]) == (stored, 1)
    assert [row["objective"] for row in again["rows"]] == [row["objective"] for row in found["rows"]]


def test_rows_without_a_plan_do_not_spoil_the_others(client: httpx.Client) -> None:
    found = compare(client, body(sample_sizes=[2, 9], eligible=[1, 2, 3], samplers=["random"]))
    planned, not_planned = found["rows"]
    assert (planned["state"], planned["pareto"]) == ("planned", True)
    reason = "9 devices are to be sampled, 3 can be"
    assert (not_planned["state"], not_planned["reason"], not_planned["pareto"]) == ("infeasible", reason, False)
    assert "objective" not in not_planned
    assert "objective" not in found["groups"][1]


def test_a_tiny_time_limit_is_told_row_by_row(client: httpx.Client) -> None:
    found = compare(client, body(time_limit=1e-9, seeds=[0, 1]))
    assert not found["complete"]
    assert [row["state"] for row in found["rows"]] == ["not_reached"] * 2


@pytest.mark.parametrize(
    ("change", "pointer", "detail"),
    [
        ({"samplers": ["random", "best"]}, "/samplers/1", "must be one of exhaustive"),
        ({"sample_sizes": [2, 16]}, "/sample_sizes/1", "must be at most the number of devices, 15"),
        ({"seeds": [3, 3]}, "/seeds/1", "is in the list already"),
        ({"seeds": []}, "/seeds", "List should have at least 1 item"),
        ({"budget_scales": [0]}, "/budget_scales/0", "Input should be greater than or equal to 0.000001"),
        ({"baseline": {"seed": 9}}, "/baseline/seed", "must be one of `seeds`"),
        ({"network": None}, "/network", ""),
        ({"time_limit": 1e5}, "/time_limit", "must be at most 60"),
        (
            {"seeds": list(range(600)), "samplers": ["random", "greedy"]},
            "/seeds",
            "2 samplers × 1 sample_sizes × 1 budget_scales × 600 seeds are 1200 rows; at most 1000 are compared",
        ),
    ],
)
def test_what_is_wrong_is_named(client: httpx.Client, change: dict[str, Any], pointer: str, detail: str) -> None:
    answer = client.post("/v1/comparisons", json={**body(), **change})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert error["detail"].startswith(detail)


def test_a_client_that_leaves_frees_its_thread(tmp_path: Path) -> None:
    # 400 rows of .2 s and more: not done when the client leaves, on any machine.
    long = body(60, samplers=["random"], seeds=list(range(400)), horizon=5000, sample_sizes=[20])
    with running_server(tmp_path, threads="1") as server, server.client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/comparisons", json=long, timeout=1.0)
        until(lambda: "fedsift_admitted 0.0" in client.get("/metrics").text)  # the thread ends without its client
        assert 'status="499"' in client.get("/metrics").text
