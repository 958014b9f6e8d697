"""What is kept behaves alike, be it plan, run, network or validation: made once, listed, named, told what was asked."""

import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.requests import random_request
from tests.support.server import running_server

PLAN = random_request(1, 10, sample_size=2, horizon=6, aggregation_period=2, sampler="random", seed=7)
BODIES: dict[str, dict[str, Any]] = {
    "plans": {**PLAN, "keep": True},
    "runs": PLAN,
    "networks": {"network": PLAN["network"]},
    "validations": {
        "source": {"kind": "generator", "devices": 8, "mean_datapoints": 20},
        "schemes": ["random"],
        "seeds": [3, 5],
        "sample_size": 2,
        "aggregations": 2,
        "model": "softmax",
    },
}
STATUS = {"plans": 201, "runs": 201, "networks": 201, "validations": 202}


@pytest.fixture(params=list(BODIES))
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def make(client: httpx.Client, kind: str, key: str = "", **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    answer = client.post(f"/v1/{kind}", json={**BODIES[kind], **more}, headers=headers)
    assert answer.status_code == STATUS[kind], answer.text
    return answer


def test_a_new_thing_says_its_id_and_where_it_is(client: httpx.Client, kind: str) -> None:
    answer = make(client, kind)
    place = answer.headers["location"]
    assert place == f"/v1/{kind}/{answer.json()['id']}"
    shown = client.get(place).json()
    assert shown["id"] == answer.json()["id"]
    assert shown["updated_at"] >= shown["created_at"]
    document = client.get("/openapi.json").json()
    told = document["paths"][f"/v1/{kind}"]["post"]["responses"][str(STATUS[kind])]
    assert "Location" in told["headers"]


def test_an_id_that_nothing_can_have_is_not_found(client: httpx.Client, kind: str) -> None:
    for call in (client.get, client.delete):
        answer = call(f"/v1/{kind}/nonsense")
        assert answer.status_code == 404
        assert answer.json()["title"] == "There is nothing here"
        assert answer.json()["detail"] == "nothing can have this path"


def test_a_filter_that_does_not_exist_is_refused(client: httpx.Client, kind: str) -> None:
    answer = client.get(f"/v1/{kind}", params={"nam": "x"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"parameter": "nam", "detail": "does not exist here; did you mean `name`?"}]


def test_a_plan_that_is_not_kept_has_no_id(client: httpx.Client) -> None:
    answer = client.post("/v1/plans", json=PLAN)
    assert answer.status_code == 200
    assert "location" not in answer.headers
    assert not {"id", "created_at"} & answer.json().keys()


def test_a_key_makes_it_once(client: httpx.Client, kind: str) -> None:
    first = make(client, kind, f"once-{kind}")
    again = make(client, kind, f"once-{kind}")
    assert "idempotent-replay" not in first.headers
    assert again.headers["idempotent-replay"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.json()["id"] == first.json()["id"]
    if kind != "validations":  # which may have gone on
        assert again.content == first.content
    other = client.post(f"/v1/{kind}", json={**BODIES[kind], "name": "b"}, headers={"Idempotency-Key": f"once-{kind}"})
    assert other.status_code == 409
    elsewhere = "runs" if kind == "plans" else "plans"
    taken = client.post(f"/v1/{elsewhere}", json=BODIES[elsewhere], headers={"Idempotency-Key": f"once-{kind}"})
    assert taken.status_code == 409


def test_requests_at_once_with_one_key_make_one_thing(client: httpx.Client, kind: str) -> None:
    answers: list[httpx.Response] = []
    body = {**BODIES[kind], "name": f"together-{kind}"}

    def ask() -> None:
        answers.append(client.post(f"/v1/{kind}", json=body, headers={"Idempotency-Key": f"together-{kind}"}))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {STATUS[kind]}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(client.get(f"/v1/{kind}", params={"name": f"together-{kind}"}).json()[kind]) == 1


def test_lists_are_filtered_and_tell_what_was_asked(client: httpx.Client, kind: str) -> None:
    labels = {"site": f"north {kind}", "team/owner": "ö"}
    made = make(client, kind, name=f"ours-{kind}", labels=labels).json()["id"]
    make(client, kind, labels={"site": f"north {kind}"})
    both = [("label", f"site:north {kind}"), ("label", "team/owner:ö")]
    for parameters in ({"name": f"ours-{kind}"}, both):
        (found,) = client.get(f"/v1/{kind}", params=parameters).json()[kind]  # type: ignore[arg-type]
        assert found["id"] == made
        assert (found["name"], found["labels"]) == (f"ours-{kind}", labels)
        assert found["updated_at"] >= found["created_at"]
        if kind == "validations":
            assert (found["seeds"], found["model"]) == ([3, 5], "softmax")
            assert found["source"]["kind"] == "generator"
        elif kind == "networks":
            assert (found["version"], found["kind"], found["n_devices"]) == (1, "network", 10)
        else:
            assert (found["sampler"], found["seed"], found["sample_size"], found["horizon"]) == ("random", 7, 2, 6)
    assert len(client.get(f"/v1/{kind}", params={"label": f"site:north {kind}"}).json()[kind]) == 2
    shown = client.get(f"/v1/{kind}/{made}").json()
    assert (shown["name"], shown["labels"]) == (f"ours-{kind}", labels)


def test_pages_go_on_where_a_row_was_deleted(client: httpx.Client, kind: str) -> None:
    made = [make(client, kind, name=f"paged-{kind}").json()["id"] for _ in range(4)]
    first = client.get(f"/v1/{kind}", params={"name": f"paged-{kind}", "limit": 2}).json()
    assert [one["id"] for one in first[kind]] == made[:2]
    rest = client.get(f"/v1/{kind}", params={"name": f"paged-{kind}", "after": first["next"]}).json()
    assert [one["id"] for one in rest[kind]] == made[2:]
    if kind == "validations":
        client.post(f"/v1/validations/{made[1]}/cancel")
    assert client.delete(f"/v1/{kind}/{made[1]}").status_code == 204
    second = client.get(f"/v1/{kind}", params={"name": f"paged-{kind}", "after": first["next"]}).json()
    assert [one["id"] for one in second[kind]] == made[2:]
    assert "next" not in second


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "a\nb"}, "/name"),
        ({"name": "x" * 201}, "/name"),
        ({"labels": {"": "a"}}, "/labels"),
        ({"labels": {"A": "a"}}, "/labels"),
        ({"labels": {"a:b": "a"}}, "/labels"),
        ({"labels": {"a": ""}}, "/labels"),
        ({"labels": {"a": "b\nc"}}, "/labels"),
        ({"labels": {f"k{i}": "v" for i in range(33)}}, "/labels"),
        ({"labels": {"a": 1}}, "/labels/a"),
    ],
)
def test_names_and_labels_have_limits(client: httpx.Client, kind: str, changes: dict[str, Any], pointer: str) -> None:
    answer = client.post(f"/v1/{kind}", json={**BODIES[kind], **changes})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("parameters", [{"label": "site"}, {"label": "Site:x"}, {"name": "a\x00"}, {"after": "run_1"}])
def test_filters_that_nothing_can_match_are_refused(
    client: httpx.Client, kind: str, parameters: dict[str, str]
) -> None:
    answer = client.get(f"/v1/{kind}", params=parameters)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == next(iter(parameters))


def test_the_aggregations_of_a_run_are_listed(client: httpx.Client) -> None:
    place = make(client, "runs").headers["location"]
    for k, norm in ((1, 0.5), (2, 0.25)):
        client.post(f"{place}/aggregations", json={"aggregation": k, "gradient_norm": norm}).raise_for_status()
    first = client.get(f"{place}/aggregations", params={"limit": 2}).json()
    assert [one["aggregation"] for one in first["aggregations"]] == [0, 1]
    second = client.get(f"{place}/aggregations", params={"after": first["next"]}).json()
    assert "next" not in second
    (last,) = second["aggregations"]
    assert last.pop("created_at")
    assert last.pop("objective") > 0
    shown = client.get(place).json()
    told = {"aggregation": 2, "first_step": 5, "last_step": 6, "gradient_norm": 0.25}
    assert last == {**told, "sampled": shown["sampled"], "replaced": []}
    assert shown["state"] == "finished"
    assert shown["updated_at"] > shown["created_at"]
    assert client.get(f"/v1/runs/run_{'0' * 32}/aggregations").status_code == 404


def test_a_run_that_was_made_is_found_when_there_is_no_room(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        first = make(client, "runs", "once")
    with running_server(tmp_path, key_bytes="1024") as server, server.client() as client:
        again = make(client, "runs", "once")
        assert again.content == first.content
        assert client.post("/v1/runs", json=PLAN).status_code == 507
