"""Validations of runs that lost devices, got new ones, or whose data changed: replayed by a worker as they were."""

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from fedl_sim.contract import GIVEN_PLAN
from tests.support.reported import Run
from tests.support.requests import random_request
from tests.support.server import running_server
from tests.support.validations import wait

Json = dict[str, Any]


@pytest.fixture(scope="module")
def c(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running_server(tmp_path_factory.mktemp("replay"), workers="1") as server, server.client() as made:
        yield made


def begun(c: httpx.Client, seed: int, **changes: Any) -> Run:
    asked: Json = {
        "sample_size": 3,
        "horizon": 20,
        "aggregation_period": 2,
        "orders": True,
        "budgets": "loose",
    } | changes
    request = random_request(seed, 14, **asked)
    devices = request["network"]["devices"]
    devices["data"] = np.rint(devices["data"]).tolist()
    return Run(c, request)


def validated(c: httpx.Client, run: Run, **changes: Any) -> httpx.Response:
    source = {"kind": "run", "id": run.place.rsplit("/", 1)[1]}
    return c.post("/v1/validations", json={"source": source, "schemes": [GIVEN_PLAN], **changes})


def trained(c: httpx.Client, run: Run, **changes: Any) -> Json:
    """The result of validating a run; of several schemes the plan's."""
    answer = validated(c, run, **changes)
    assert answer.status_code == 202, answer.text
    result = wait(c, answer.headers["location"])
    assert result["state"] == "succeeded", result
    planned: Json = result["schemes"][0]
    assert len(planned["accuracy"]["mean"]) == run.k + 2
    return planned


def ordered(run: Run, period: Json) -> dict[tuple[int, int], int]:
    """What orders send in a period, by pair."""
    found: dict[tuple[int, int], int] = {}
    for one in period["orders"]:
        for send in one["sends"]:
            pair = one["device"], send["to"]
            found[pair] = found.get(pair, 0) + send["count"]
    return found


def useful(run: Run, sent: dict[tuple[int, int], int]) -> float:
    """What receivers are expected to keep of it."""
    return float(sum(count * run.reported.fresh[pair] / run.reported.own[pair[0]] for pair, count in sent.items()))


def test_a_run_that_lost_devices_is_trained_as_it_was(c: httpx.Client) -> None:
    run = begun(c, 6)
    sent = ordered(run, run.period)
    predicted, moved = useful(run, sent), sum(sent.values())
    lost = run.period["sampled"][0]
    for report in ({"lost": [lost]}, {}, {"joined": [lost], "lost": run.period["sampled"][1:2]}):
        sent = ordered(run, run.aggregate(**report))
        predicted, moved = predicted + useful(run, sent), moved + sum(sent.values())
    planned = trained(c, run, seeds=[0, 1])
    assert planned["verdict"]["predicted_useful"] == pytest.approx(predicted)
    assert planned["moved"] == moved
    # Those who were lost trained in vain: less was aggregated than all that was held.
    held = sum(
        sum(one["sampled_data"]) for k in range(4) for one in c.get(f"{run.place}/aggregations/{k}").json()["steps"]
    )
    assert planned["processed"] < 0.95 * held


def test_what_was_not_delivered_does_not_arrive_and_is_sent_again(c: httpx.Client) -> None:
    run = begun(c, 7)
    sent = ordered(run, run.period)
    pair = max(sent, key=lambda one: sent[one])
    half = sent[pair] // 2
    assert half > 0
    told = {"source": [pair[0]], "target": [pair[1]], "datapoints": [float(half)]}
    again = ordered(run, run.aggregate(delivered=told, lost=[]))
    planned = trained(c, run)
    arrived = sent | {pair: half}
    assert planned["verdict"]["predicted_useful"] == pytest.approx(useful(run, arrived) + useful(run, again))
    assert planned["moved"] == sum(sent.values()) + sum(again.values())


@pytest.mark.parametrize("transfer", ["send_once", "redraw"])
def test_own_data_and_new_devices_are_those_of_the_period(c: httpx.Client, transfer: str) -> None:
    orders = transfer == "send_once"
    run = begun(c, 8, transfer=transfer, orders=orders)
    member, sender = run.period["sampled"][0], run.period["steps"][0]["transfers"]["source"][0]
    own = run.reported.own
    new = {
        "data": 500.0,
        "processing_capacity": 1e6,
        "processing_cost": 1.0,
        "receive_capacity": 100.0,
        "transmit_budget": 1e6,
    }
    other = run.period["sampled"][1]
    report = {
        "data": {
            "device": [member, sender],
            "datapoints": [float(round(own[member] / 2)), float(round(own[sender] * 2))],
        },
        "add_devices": [new],
        "links": [{"source": 14, "target": other, "similarity": 0.0, "transmit_cost": 0.01}],
        "lost": [run.period["sampled"][2]],
    }
    first = ordered(run, run.period) if orders else {}
    before = useful(run, first)
    second = run.aggregate(**report)
    third = run.aggregate(lost=second["sampled"][:1])
    assert {14} <= {k for one in (second, third) for step in one["steps"] for k in step["transfers"]["source"]} | set(
        second["sampled"]
    )
    planned = trained(c, run)
    assert planned["moved"] > 0
    if orders:
        predicted = before + useful(run, ordered(run, second)) + useful(run, ordered(run, third))
        assert planned["verdict"]["predicted_useful"] == pytest.approx(predicted)


def test_other_schemes_train_beside_it_and_nobody_samples_a_device_that_joins_later(c: httpx.Client) -> None:
    run = begun(c, 9)
    new = {
        "data": 20_000.0,
        "processing_capacity": 1e6,
        "processing_cost": 1.0,
        "receive_capacity": 1.0,
        "transmit_budget": 0.0,
    }
    run.aggregate(lost=run.period["sampled"][:1], add_devices=[new])
    answer = validated(c, run, schemes=[GIVEN_PLAN, "ours-offload"], draws=1)
    result = wait(c, answer.headers["location"])
    assert result["state"] == "succeeded", result
    ours = result["schemes"][1]
    # The newcomer alone has more than all that three others may hold in four steps together.
    assert ours["processed"] < 4 * 20_000


def test_a_run_that_changed_keeps_its_period(c: httpx.Client) -> None:
    run = begun(c, 10)
    assert validated(c, run, aggregation_period=1).status_code == 202
    run.aggregate(lost=run.period["sampled"][:1])
    refused = validated(c, run, aggregation_period=1)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/aggregation_period"
    assert validated(c, run, aggregation_period=2).status_code == 202
