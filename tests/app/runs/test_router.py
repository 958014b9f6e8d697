"""Runs: the closed loop, replays, conflicts, crashes and several processes."""

import concurrent.futures
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tests.support.requests import check_plan, random_request
from tests.support.server import Server, running_server, start_server


def start_run(client: httpx.Client, request: dict[str, Any]) -> str:
    answer = client.post("/v1/runs", json=request)
    assert answer.status_code == 201, answer.text
    location = answer.headers["location"]
    assert location == f"/v1/runs/{answer.json()['id']}"
    return location


def aggregate(client: httpx.Client, run: str, k: int, norm: float = 1.0, **more: Any) -> httpx.Response:
    return client.post(f"{run}/aggregations", json={"aggregation": k, "gradient_norm": norm, **more})


def test_periods_with_a_constant_gradient_make_up_the_plan(client: httpx.Client) -> None:
    request = random_request(1, 15, horizon=12, aggregation_period=5)
    whole = client.post("/v1/plans", json=request).json()
    first = client.post("/v1/runs", json=request)
    run = first.headers["location"]
    steps = first.json()["steps"]
    for k in (1, 2):
        period = aggregate(client, run, k).json()
        assert period["state"] == ("finished" if k == 2 else "active")
        steps += period["steps"]
    assert [step["step"] for step in steps] == list(range(1, 13))
    assert [len(first.json()["steps"]), len(period["steps"])] == [5, 2]
    for one, other in zip(steps, whole["steps"], strict=True):
        np.testing.assert_allclose(one["sampled_data"], other["sampled_data"], rtol=1e-12)
    check_plan(request, {**whole, "steps": steps})


def test_observed_gradients_set_the_decay(client: httpx.Client) -> None:
    run = start_run(client, random_request(2, 12, horizon=15, gradient={"norm": 2.0, "decay": 1.0}))
    norms = [step["gradient_norm"] for step in aggregate(client, run, 1, 1.0).json()["steps"]]
    decay = 2.0 ** (1 / 5)
    np.testing.assert_allclose(norms, [decay**-t for t in range(1, 6)], rtol=1e-12)
    grown = [step["gradient_norm"] for step in aggregate(client, run, 2, 3.0).json()["steps"]]
    np.testing.assert_allclose(grown, [3.0] * 5)


def test_the_first_norm_of_a_run_without_one_leaves_the_decay_as_given(client: httpx.Client) -> None:
    run = start_run(client, random_request(2, 12, horizon=15, gradient={"decay": 1.1}))
    first, second = (aggregate(client, run, k, norm).json()["steps"] for k, norm in ((1, 0.2), (2, 0.1)))
    np.testing.assert_allclose([step["gradient_norm"] for step in first], [0.2 * 1.1**-t for t in range(1, 6)])
    np.testing.assert_allclose([step["gradient_norm"] for step in second], [0.1 * 2 ** (-t / 5) for t in range(1, 6)])


def test_a_measured_gradient_noise_holds_from_then_on(client: httpx.Client) -> None:
    run = start_run(client, random_request(3, 12, horizon=20, gradient_noise=2.0))

    def noises(**more: Any) -> list[float]:
        k = client.get(run).json()["aggregation"] + 1
        steps = aggregate(client, run, k, **more).json()["steps"]
        # Term (b) is γ times the mean of 1/√D_i.
        return [step["statistical_term"] / np.mean(np.array(step["sampled_data"]) ** -0.5) for step in steps]

    np.testing.assert_allclose(noises(gradient_noise=5.0), [5.0] * 5)
    np.testing.assert_allclose(noises(), [5.0] * 5)
    np.testing.assert_allclose(noises(gradient_noise=0.0), [0.0] * 5)
    assert aggregate(client, run, 1, gradient_noise=5.0).headers["idempotent-replay"] == "true"
    assert aggregate(client, run, 1, gradient_noise=4.0).status_code == 409
    refused = aggregate(client, run, 1, gradient_noise=-1.0)
    assert refused.json()["errors"][0]["pointer"] == "/gradient_noise"


def test_the_same_body_replays_and_others_conflict(client: httpx.Client) -> None:
    run = start_run(client, random_request(3, 12, horizon=15))
    assert aggregate(client, run, 2).status_code == 409
    first = aggregate(client, run, 1, 0.5)
    again = client.post(f"{run}/aggregations", content=b'{"gradient_norm": 0.50, "aggregation": 1}', headers=JSON)
    assert again.content == first.content
    assert again.headers["idempotent-replay"] == "true"
    assert client.get(f"{run}/aggregations/1").content == first.content
    other = aggregate(client, run, 1, 0.6)
    assert other.status_code == 409
    assert other.json()["type"] == "urn:fedsift:problem:conflict"
    assert aggregate(client, run, 2, 0.4).status_code == 200
    assert aggregate(client, run, 1, 0.5).content == first.content
    assert aggregate(client, run, 3, 0.4).status_code == 409


JSON = {"content-type": "application/json"}


def test_changes_told_later_hold_from_then_on(client: httpx.Client) -> None:
    run = start_run(client, random_request(4, 12, horizon=15))
    silence = {"devices": {"transmit_budget": [0.0] * 12}}
    late = aggregate(client, run, 1, schedule=[{"step": 5, **silence}])
    assert late.status_code == 422
    assert late.json()["errors"][0]["pointer"] == "/schedule/0/step"
    period = aggregate(client, run, 1, schedule=[{"step": 8, **silence}]).json()
    moved = [sum(step["received"]) for step in period["steps"]]
    assert min(moved[:2]) > 0
    assert max(moved[2:]) == 0
    after = aggregate(client, run, 2).json()
    assert sum(sum(step["received"]) for step in after["steps"]) == 0


def test_an_infeasible_aggregation_leaves_the_run_where_it_was(client: httpx.Client) -> None:
    run = start_run(client, random_request(5, 12, horizon=15))
    collapse = {"step": 7, "devices": {"processing_capacity": [1.0] * 12}}
    answer = aggregate(client, run, 1, schedule=[collapse])
    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:fedsift:problem:infeasible"
    # None of the others could take a place either, so all are named.
    assert sorted(found["device"] for found in answer.json()["devices"]) == list(range(12))
    assert aggregate(client, run, 1).status_code == 200


def test_runs_are_listed_shown_and_deleted(client: httpx.Client) -> None:
    made = [start_run(client, random_request(6, 10)).rsplit("/", 1)[1] for _ in range(3)]
    seen: list[str] = []
    after = ""
    while True:
        page = client.get("/v1/runs", params={"limit": 2, "after": after}).json()
        seen += [run["id"] for run in page["runs"]]
        if "next" not in page:
            break
        after = page["next"]
    assert [run for run in seen if run in made] == made
    assert len(set(seen)) == len(seen)
    shown = client.get(f"/v1/runs/{made[0]}").json()
    assert (shown["aggregation"], shown["step"], shown["state"]) == (0, 5, "active")
    assert client.delete(f"/v1/runs/{made[0]}").status_code == 204
    assert client.get(f"/v1/runs/{made[0]}").status_code == 404
    assert client.delete(f"/v1/runs/{made[0]}").status_code == 404
    assert aggregate(client, f"/v1/runs/{made[0]}", 1).status_code == 404


def test_a_run_survives_kill_nine_between_any_two_calls(tmp_path: Path, client: httpx.Client) -> None:
    request = random_request(7, 12, horizon=20)
    undisturbed = start_run(client, request)
    expected = [aggregate(client, undisturbed, k, 1 / k).json()["steps"] for k in (1, 2, 3)]

    server = start_server(tmp_path)
    run = ""
    try:
        with server.client() as c:
            run = start_run(c, request)
        for k in (1, 2, 3):
            server = killed_and_restarted(server, tmp_path)
            with server.client() as c:
                answer = aggregate(c, run, k, 1 / k)
            server = killed_and_restarted(server, tmp_path)
            with server.client() as c:
                assert aggregate(c, run, k, 1 / k).content == answer.content
                assert aggregate(c, run, k, 7.0).status_code == 409
            assert answer.json()["steps"] == expected[k - 1]
    finally:
        server.process.terminate()
        server.process.wait(60)


def killed_and_restarted(server: Server, folder: Path) -> Server:
    server.process.kill()
    server.process.wait(60)
    return start_server(folder)


def test_two_processes_answer_the_same_aggregation_once(tmp_path: Path) -> None:
    with running_server(tmp_path) as one, running_server(tmp_path) as two, one.client() as a, two.client() as b:
        run = start_run(a, random_request(8, 20, horizon=200, aggregation_period=10))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for k in range(1, 6):
                jobs = [pool.submit(aggregate, client, run, k, 0.9) for client in (a, b) * 4]
                answers = {job.result().content for job in jobs}
                assert all(job.result().status_code == 200 for job in jobs)
                assert len(answers) == 1


def test_postgresql_by_one_setting(tmp_path: Path, postgres_url: str) -> None:
    with running_server(tmp_path, database_url=postgres_url) as one, one.client() as a:
        run = start_run(a, random_request(9, 15, horizon=100))
        with running_server(tmp_path, database_url=postgres_url) as two, two.client() as b:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                jobs = [pool.submit(aggregate, client, run, 1, 0.9) for client in (a, b) * 4]
                assert len({job.result().content for job in jobs}) == 1
            assert aggregate(b, run, 1, 0.8).status_code == 409
            assert [r["id"] for r in b.get("/v1/runs").json()["runs"]] == [run.rsplit("/", 1)[1]]
            assert b.delete(run).status_code == 204
        assert a.get(run).status_code == 404
    assert not (tmp_path / "fedsift.db").exists()


def test_what_was_stored_with_a_sampler_no_longer_offered_still_serves(tmp_path: Path) -> None:
    """Devices were chosen when the run or plan was made: only new ones may not ask for that sampler."""
    request = random_request(3, 12, horizon=10)
    with running_server(tmp_path) as server, server.client() as client:
        run = start_run(client, request)
        plan = client.post("/v1/plans", json={**request, "keep": True}).json()["id"]
        with closing(sqlite3.connect(tmp_path / "fedsift.db")) as database, database:
            for table in ("runs", "plans"):
                ((body,),) = database.execute(f"SELECT request FROM {table}").fetchall()
                before = {**json.loads(zlib.decompress(body)), "sampler": "random_branch"}
                packed = zlib.compress(json.dumps(before).encode())
                database.execute(f"UPDATE {table} SET request = ?", (packed,))
        assert client.post("/v1/runs", json=before).status_code == 422
        assert aggregate(client, run, 1).status_code == 200
        for source in ({"kind": "run", "id": run.rsplit("/", 1)[1]}, {"kind": "plan", "id": plan}):
            asked = client.post("/v1/validations", json={"source": source, "schemes": ["plan"]})
            assert asked.status_code == 202, asked.text


def test_each_period_of_a_run_is_planned_as_a_whole(client: httpx.Client) -> None:
    request = random_request(5, 12, budgets="loose", horizon=6, aggregation_period=3)
    run = client.post("/v1/runs", json={**request, "transfer": "send_once", "planning": "horizon"})
    for period in (run.json(), aggregate(client, run.headers["location"], 1).json()):
        assert period["planning"] == "horizon"
        assert period["horizon_gap"] <= 1e-6
        assert period["relative_gap"] == period["horizon_gap"]


def test_a_run_that_sends_once_sends_nothing_twice_over_its_periods(client: httpx.Client) -> None:
    request = random_request(5, 12, budgets="loose", horizon=9, aggregation_period=3, transfer="send_once")
    whole = client.post("/v1/plans", json=request).json()
    first = client.post("/v1/runs", json=request)
    steps = first.json()["steps"]
    for k in (1, 2):
        period = aggregate(client, first.headers["location"], k).json()
        assert period["transfer"] == "send_once"
        steps += period["steps"]
    total: dict[tuple[int, int], float] = {}
    for step in steps:
        moves = step["transfers"]
        for pair, share in zip(zip(moves["source"], moves["target"], strict=True), moves["fraction"], strict=True):
            total[pair] = total.get(pair, 0.0) + share
    assert 0.9 < max(total.values()) <= 1 + 1e-9
    for one, other in zip(steps, whole["steps"], strict=True):
        np.testing.assert_allclose(one["sampled_data"], other["sampled_data"], rtol=1e-6)


def test_the_weights_of_a_run_hold_in_every_period(client: httpx.Client) -> None:
    weights = {"transmit": 1e-4, "processing": 1e-4}
    request = random_request(5, 12, horizon=9, aggregation_period=3, transfer="send_once", weights=weights)
    whole = client.post("/v1/plans", json=request).json()
    run = start_run(client, request)
    steps = [step for k in (1, 2) for step in aggregate(client, run, k).json()["steps"]]
    for one, other in zip(steps, whole["steps"][3:], strict=True):
        assert one["transmit_term"] + one["processing_term"] > 0
        for name in ("objective", "transmit_term", "processing_term"):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-5)


def test_a_run_of_an_earlier_release_goes_on_as_it_began(tmp_path: Path) -> None:
    """Neither its request nor its state says how devices send; that meant `redraw`."""
    request = random_request(5, 12, budgets="loose", horizon=6, aggregation_period=3)
    with running_server(tmp_path) as server, server.client() as client:
        whole = client.post("/v1/plans", json={**request, "transfer": "redraw"}).json()
        run = start_run(client, {**request, "transfer": "redraw"})
        with closing(sqlite3.connect(tmp_path / "fedsift.db")) as database, database:
            database.execute("UPDATE runs SET request = ?", (zlib.compress(json.dumps(request).encode()),))
            ((state,),) = database.execute("SELECT state FROM periods").fetchall()
            before = {name: value for name, value in json.loads(state).items() if name != "transfer"}
            database.execute("UPDATE periods SET state = ?", (json.dumps(before),))
        period = aggregate(client, run, 1).json()
    assert period["transfer"] == "redraw"
    for one, other in zip(period["steps"], whole["steps"][3:], strict=True):
        np.testing.assert_allclose(one["sampled_data"], other["sampled_data"], rtol=1e-6)
