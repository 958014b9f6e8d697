"""Validations over HTTP: accepted, followed, cancelled, refused. tests/app/worker tests what survives crashes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fedl_sim.contract import DATA_FILES, GIVEN_PLAN
from tests.support.command import make_key
from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.validations import wait
from tests.support.waiting import PATIENCE, until

SMALL = {
    "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
    "schemes": ["ours-offload", "random"],
    "seeds": [0, 1],
    "draws": 2,
    "sample_size": 3,
    "aggregations": 3,
    "aggregation_period": 2,
    "target": 0.2,
}


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("working")
    (folder / "mnist").mkdir()
    for file in DATA_FILES:
        (folder / "mnist" / file).write_bytes(b"no images")
    with running_server(folder, workers="1", data_dir=str(folder)) as server:
        yield server


@pytest.fixture(scope="module")
def c(working: Server) -> Iterator[httpx.Client]:
    with working.client() as made:
        yield made


def submit(client: httpx.Client, **changes: Any) -> str:
    answer = client.post("/v1/validations", json={**SMALL, **changes})
    assert answer.status_code == 202, answer.text
    place: str = answer.headers["location"]
    assert answer.json()["id"] == place.rsplit("/", 1)[1]
    return place


def events(client: httpx.Client, place: str, after: int = 0) -> list[dict[str, Any]]:
    text = client.get(f"{place}/events", headers={"last-event-id": str(after)}).text
    found = re.findall(r"id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n", text)
    return [{"number": int(number), "kind": kind, **json.loads(data)} for number, kind, data in found]


def test_a_validation_from_start_to_end(c: httpx.Client) -> None:
    answer = c.post("/v1/validations", json=SMALL)
    assert answer.status_code == 202
    first = answer.json()
    assert (first["state"], first["progress"], first["parts"]) == ("queued", 0.0, 2 * (1 + 2))
    result = wait(c, answer.headers["location"])
    assert (result["state"], result["progress"], result["parts_done"]) == ("succeeded", 1.0, 6)
    assert "failure" not in result
    ours, chance = result["schemes"]
    assert (ours["scheme"], ours["runs"], chance["scheme"], chance["runs"]) == ("ours-offload", 2, "random", 4)
    for scheme, runs in ((ours, 2), (chance, 4)):
        for measure in ("accuracy", "loss"):
            assert len(scheme[measure]["mean"]) == len(scheme[measure]["deviation"]) == 4
            assert scheme[measure]["runs"] == [runs] * 4
        assert scheme["loss"]["mean"][-1] < scheme["loss"]["mean"][0]
    assert ours["reached"] == 1
    assert 1 <= ours["aggregations_to_target"] <= 3
    assert ours["datapoints_to_target"] > 0
    assert ours["moved"] > 0
    assert ours["cost"] > 0
    assert ours["worst_relative_gap"] < 1e-5
    assert ours["verdict"]["predicted_useful"] > 0
    error, allowed, tolerance = (
        abs(ours["verdict"]["relative_error"]),
        ours["verdict"]["allowed"],
        result["tolerance"],
    )
    outcomes = {"as_predicted"} if error <= tolerance else {"too_few_runs"} if error <= allowed else {"less", "more"}
    assert ours["verdict"]["outcome"] in outcomes
    assert chance["verdict"]["outcome"] == "nothing_predicted"
    assert "relative_error" not in chance["verdict"]


def test_the_same_validation_twice_measures_the_same(c: httpx.Client) -> None:
    one, two = submit(c), submit(c)
    assert wait(c, one)["schemes"] == wait(c, two)["schemes"]


def test_events_tell_all_and_can_be_resumed(c: httpx.Client) -> None:
    place = submit(c)
    told = events(c, place)
    assert [event["number"] for event in told] == list(range(1, len(told) + 1))
    assert [event["state"] for event in told if event["kind"] == "state"] == ["queued", "running", "succeeded"]
    rounds = [event for event in told if event["kind"] == "round"]
    assert len(rounds) == 6 * 4
    progress = [event["progress"] for event in rounds]
    assert progress == sorted(progress)
    assert progress[-1] == 1
    assert events(c, place, after=7) == told[7:]
    over = c.get(f"{place}/events", headers={"last-event-id": str(len(told))})
    assert (over.status_code, over.content) == (204, b"")
    result = c.get(place).json()
    by_k = [event["accuracy"] for event in rounds if event["scheme"] == "ours-offload" and event["aggregation"] == 3]
    assert sum(by_k) / 2 == pytest.approx(result["schemes"][0]["accuracy"]["mean"][3])


def test_partial_curves_and_time_left_while_it_runs_and_a_cancel_that_keeps_them(c: httpx.Client) -> None:
    place = submit(c, aggregations=2000, seeds=[0], schemes=["ours", "heuristic"])
    until(lambda: c.get(place).json()["progress"] > 0.002)
    seen = c.get(place).json()
    assert seen["state"] == "running"
    assert seen["seconds_left"] > 0
    assert 3 <= len(seen["schemes"][0]["accuracy"]["mean"]) < 2001
    assert seen["schemes"][0]["verdict"]["outcome"] == "pending"
    refused = c.delete(place)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "the validation has not ended; cancel it first"
    asked = c.post(f"{place}/cancel")
    assert asked.status_code == 200
    assert asked.json()["state"] in {"cancelling", "cancelled"}
    ended = wait(c, place)
    assert ended["state"] == "cancelled"
    assert "seconds_left" not in ended
    assert 0 < ended["progress"] < 0.9
    assert ended["schemes"][0]["accuracy"]["mean"][:3] == seen["schemes"][0]["accuracy"]["mean"][:3]
    assert [event["state"] for event in events(c, place) if event["kind"] == "state"] == [
        "queued",
        "running",
        "cancelling",
        "cancelled",
    ]
    assert c.post(f"{place}/cancel").json()["state"] == "cancelled"
    assert c.delete(place).status_code == 204
    assert c.get(place).status_code == 404
    assert c.delete(place).status_code == 404


def test_a_damaged_data_set_fails_with_its_reason(c: httpx.Client) -> None:
    result = wait(c, submit(c, data_set="mnist", seeds=[4, 5]))
    assert result["state"] == "failed"
    assert result["failure"]["type"] == "data-set"
    assert "damaged" in result["failure"]["detail"]
    assert "/working" not in result["failure"]["detail"]  # folders of the server are not told
    assert (result["failure"]["scheme"], result["failure"]["seed"]) == ("ours-offload", 4)
    assert result["parts_done"] == 0


def test_a_given_network_with_changes(c: httpx.Client) -> None:
    given = random_request(3, 12)["network"]
    silence = {"step": 3, "devices": {"transmit_budget": [0.0] * 12}}
    source = {"kind": "network", "network": given}
    free = wait(c, submit(c, source=source, schemes=["greedy:surrogate+fast"], seeds=[0]))["schemes"][0]
    hushed_source = {**source, "schedule": [silence]}
    hushed = wait(c, submit(c, source=hushed_source, schemes=["greedy:surrogate+fast"], seeds=[0]))["schemes"][0]
    assert 0 < hushed["moved"] < free["moved"]


def test_an_infeasible_network_is_refused_with_the_devices(c: httpx.Client) -> None:
    given = random_request(3, 12)["network"]
    given["devices"]["processing_capacity"] = [0.001] * 12
    answer = c.post("/v1/validations", json={**SMALL, "source": {"kind": "network", "network": given}})
    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:fedsift:problem:infeasible"
    assert answer.json()["device_count"] == 12


def test_a_given_fleet(c: httpx.Client) -> None:
    rows = [{"id": f"cam-{i}", "datapoints": 20 + i, "samples_per_second": 50} for i in range(6)]
    links = [{"from": f"cam-{i}", "to": "cam-0", "mbps": 2.0, "similarity": 0.2} for i in range(1, 6)]
    fleet = {"step_seconds": 60, "datapoint_bytes": 64, "devices": rows, "links": links}
    request = {"schemes": ["ours-offload"], "seeds": [0], "sample_size": 1}
    found = wait(c, submit(c, source={"kind": "fleet", "fleet": fleet}, **request))
    assert found["schemes"][0]["moved"] > 0
    links[1]["to"] = "cam-9"
    answer = c.post("/v1/validations", json={**SMALL, "source": {"kind": "fleet", "fleet": fleet}})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "/source/fleet/links/1/to", "detail": "is the id of no device"}]
    unwilling = {**fleet, "devices": [{**row, "may_train": False} for row in rows], "links": []}
    answer = c.post("/v1/validations", json={**SMALL, "source": {"kind": "fleet", "fleet": unwilling}})
    first = {"device": 0, "id": "cam-0", "step": 1, "reason": "may not train"}
    assert answer.json()["devices"][0] == first


def ordered_useful(request: dict[str, Any], answer: dict[str, Any]) -> float:
    """The useful datapoints of the orders: the share 1 − λ of what each link sends."""
    links = request["network"]["topology"]
    similarity = dict(zip(zip(links["source"], links["target"], strict=True), links["similarity"], strict=True))
    sends = [(one["device"], send["to"], send["count"]) for one in answer["orders"] for send in one["sends"]]
    assert sends
    return float(sum(count * (1.0 - similarity[source, target]) for source, target, count in sends))


@pytest.mark.parametrize("output", ["links", "matrix"])
def test_a_kept_plan_is_shown_validated_and_forgotten(c: httpx.Client, output: str) -> None:
    request = random_request(5, 14, sample_size=3, horizon=6, aggregation_period=2, output=output, orders=True)
    lost = c.post("/v1/plans", json=request).json()
    assert "id" not in lost
    plan = c.post("/v1/plans", json={**request, "keep": True}).json()
    assert c.get(f"/v1/plans/{plan['id']}").json() == plan
    body = {"source": {"kind": "plan", "id": plan["id"]}, "schemes": [GIVEN_PLAN, "random-offload"], "draws": 1}
    answer = c.post("/v1/validations", json=body)
    assert answer.status_code == 202, answer.text
    assert (answer.json()["aggregations"], answer.json()["sample_size"]) == (3, 3)
    result = wait(c, answer.headers["location"])
    assert result["state"] == "succeeded", result
    planned = result["schemes"][0]
    assert planned["verdict"]["predicted_useful"] == pytest.approx(ordered_useful(request, plan))
    assert planned["moved"] > 0
    assert planned["worst_relative_gap"] == plan["relative_gap"]
    assert c.delete(f"/v1/plans/{plan['id']}").status_code == 204
    assert c.get(f"/v1/plans/{plan['id']}").status_code == 404
    refused = c.post("/v1/validations", json=body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/source/id"


def test_a_run_is_validated_as_far_as_it_was_planned(c: httpx.Client) -> None:
    request = random_request(6, 14, sample_size=3, horizon=20, aggregation_period=2, orders=True)
    run = c.post("/v1/runs", json=request).headers["location"]
    silence = {"step": 4, "devices": {"transmit_budget": [0.0] * 14}}
    told = {"aggregation": 1, "gradient_norm": 0.5, "schedule": [silence]}
    second = c.post(f"{run}/aggregations", json=told).json()
    first = c.get(f"{run}/aggregations/0").json()
    source = {"kind": "run", "id": run.rsplit("/", 1)[1]}
    result = wait(c, submit(c, **{**SMALL, "source": source, "schemes": [GIVEN_PLAN], "aggregations": 2}))
    predicted = ordered_useful(request, first) + ordered_useful(request, second)
    assert result["schemes"][0]["verdict"]["predicted_useful"] == pytest.approx(predicted)


def test_an_idempotency_key_makes_one_validation(c: httpx.Client) -> None:
    headers = {"Idempotency-Key": "once-1"}
    one = c.post("/v1/validations", json=SMALL, headers=headers)
    two = c.post(
        "/v1/validations", content=json.dumps(SMALL, indent=3), headers={**headers, "Content-Type": "application/json"}
    )
    assert one.headers["location"] == two.headers["location"]
    assert two.status_code == 202
    assert two.headers["idempotent-replay"] == "true"
    other = c.post("/v1/validations", json={**SMALL, "seeds": [9]}, headers=headers)
    assert other.status_code == 409
    assert other.json()["type"] == "urn:fedsift:problem:conflict"
    assert c.post("/v1/validations", json=SMALL, headers={"Idempotency-Key": "x" * 256}).status_code == 422


@pytest.mark.parametrize("kind", ["plan", "run"])
def test_a_replay_finds_its_validation_after_the_source_was_deleted(c: httpx.Client, kind: str) -> None:
    asked = random_request(7, 14, sample_size=3, horizon=4) | ({"keep": True} if kind == "plan" else {})
    source = c.post(f"/v1/{kind}s", json=asked).json()["id"]
    body = {"source": {"kind": kind, "id": source}, "schemes": [GIVEN_PLAN], "draws": 1}
    headers = {"Idempotency-Key": f"deleted-{kind}"}
    first = c.post("/v1/validations", json=body, headers=headers)
    assert first.status_code == 202, first.text
    assert c.delete(f"/v1/{kind}s/{source}").status_code == 204
    again = c.post("/v1/validations", json=body, headers=headers)
    assert again.status_code == 202, again.text
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["idempotent-replay"] == "true"
    other = c.post("/v1/validations", json={**body, "seeds": [9]}, headers=headers)
    assert other.status_code == 409
    assert c.post("/v1/validations", json=body).status_code == 422


def test_validations_are_listed_page_by_page(c: httpx.Client) -> None:
    made = [submit(c, seeds=[i], schemes=["ours"]).rsplit("/", 1)[1] for i in range(3)]
    seen: list[str] = []
    after = ""
    while True:
        page = c.get("/v1/validations", params={"limit": 2, "after": after}).json()
        seen += [one["id"] for one in page["validations"]]
        assert all("schemes" not in one for one in page["validations"])
        if "next" not in page:
            break
        after = page["next"]
    assert [one for one in seen if one in made] == made
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"schemes": ["ours", "clever"]}, "/schemes/1"),
        ({"schemes": ["plan"]}, "/schemes/0"),
        ({"schemes": ["random+cvxpy"]}, "/schemes/0"),
        ({"schemes": ["greedy+"]}, "/schemes/0"),
        ({"schemes": ["random_branch+fast"]}, "/schemes/0"),
        ({"schemes": ["gcn_branch_fedl"]}, "/schemes/0"),
        ({"schemes": ["divfl"]}, "/schemes/0"),
        ({"schemes": ["ours", "ours"]}, "/schemes"),
        ({"seeds": [1, 1]}, "/seeds"),
        ({"data_set": "cifar"}, "/data_set"),
        ({"sample_size": 13}, "/sample_size"),
        ({"aggregations": 10**6}, "/aggregations"),
        ({"seeds": list(range(1000))}, "/seeds"),
        ({"source": {"kind": "generator", "devices": 10**6}}, "/source"),
        ({"source": {"kind": "generator", "devices": 9000, "mean_datapoints": 10**5}}, "/source"),
        ({"source": {"kind": "telepathy"}}, "/source/kind"),
        ({"source": {"kind": "generator", "budget": "lavish"}}, "/source/budget"),
        ({"source": {"kind": "plan", "id": "plan_" + "0" * 32}}, "/source/id"),
        ({"source": {"kind": "run", "id": "run_" + "0" * 32}}, "/source/id"),
        ({"learning_rate": float("inf")}, "/learning_rate"),
    ],
)
def test_what_is_wrong_is_named(c: httpx.Client, changes: dict[str, Any], pointer: str) -> None:
    answer = c.post(
        "/v1/validations", content=json.dumps({**SMALL, **changes}), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_readiness_and_metrics_know_the_queue(c: httpx.Client) -> None:
    wait(c, submit(c, seeds=[0], schemes=["ours"]))
    # Other tests' jobs may be under way.
    until(lambda: "fedsift_validation_queue_depth 0.0" in c.get("/metrics").text)
    ready = c.get("/readyz").json()
    assert (ready["validations"], ready["workers"]) == ("ok", 1)
    text = c.get("/metrics").text
    assert float(re.findall(r'fedsift_validations\{state="succeeded"\} (\S+)', text)[0]) >= 1
    assert "fedsift_validation_queue_depth 0.0" in text
    assert "fedsift_workers 1.0" in text


def test_a_full_queue_turns_callers_away_and_says_when_to_come_back(tmp_path: Path) -> None:
    with running_server(tmp_path, validation_queue="2") as server, server.client() as client:
        assert client.get("/readyz").json()["validations"] == "no_workers"
        places = [submit(client) for _ in range(2)]
        refused = client.post("/v1/validations", json=SMALL)
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["type"] == "urn:fedsift:problem:overloaded"
        assert client.post(f"{places[0]}/cancel").json()["state"] == "cancelled"  # nothing had begun
        submit(client)
        assert "fedsift_validation_queue_depth 12.0" in client.get("/metrics").text


def test_validations_belong_to_keys_and_keys_have_their_share(tmp_path: Path) -> None:
    one, two = ({"x-api-key": make_key(tmp_path, name)["key"]} for name in ("one", "two"))
    with (
        running_server(tmp_path, auth="required", key_validations="1") as server,
        server.client(headers=one) as a,
        server.client(headers=two) as b,
    ):
        place = submit(a)
        refused = a.post("/v1/validations", json=SMALL)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        submit(b)
        for answer in (b.get(place), b.post(f"{place}/cancel"), b.delete(place), b.get(f"{place}/events")):
            assert answer.status_code == 404
        assert [one["id"] for one in a.get("/v1/validations").json()["validations"]] == [place.rsplit("/", 1)[1]]
        assert a.post(f"{place}/cancel").json()["state"] == "cancelled"
        plan = a.post("/v1/plans", json={**random_request(1, 10), "keep": True}).json()["id"]
        assert b.get(f"/v1/plans/{plan}").status_code == 404
        assert b.delete(f"/v1/plans/{plan}").status_code == 404
        assert a.get(f"/v1/plans/{plan}").status_code == 200


def test_followers_are_limited_and_sent_away_at_shutdown(tmp_path: Path) -> None:
    with running_server(tmp_path, event_streams="1") as server, server.client() as client:
        place = submit(client)
        with client.stream("GET", f"{place}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            refused = client.get(f"{place}/events")
            assert refused.status_code == 503
            server.process.terminate()
            assert any("queued" in line for line in lines)
            assert server.process.wait(PATIENCE) == 0  # the stream would go on for ever
