"""Runs that lose devices go on: who replaces whom, what arrived, who may train; all recomputed from the reports."""

import json
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import pytest

from benchmarks.reported_run import BrokenAnswerError
from tests.support.reported import Run
from tests.support.requests import random_request

Json = dict[str, Any]


def test_a_lost_device_is_replaced_and_the_run_goes_on(client: httpx.Client) -> None:
    run = Run(client, random_request(1, 20, horizon=20))
    lost = run.period["sampled"][1]
    answer = run.aggregate(lost=[lost])
    (one,) = answer["replaced"]
    assert (one["lost"], one["reason"]) == (lost, "lost")
    assert answer["sampled"][1] == one["by"]
    assert one["by"] != lost
    assert answer["set_bound"] <= answer["objective"]
    assert len(answer["swap_price"]["fresh_sampled"]) == 3
    assert run.aggregate()["replaced"] == []
    assert "swap_price" not in run.period
    assert run.aggregate(joined=[lost])["sampled"] == run.period["sampled"]
    assert client.get(run.place).json()["lost"] == []


def test_orders_for_a_newcomer_begin_at_the_first_datapoint(client: httpx.Client) -> None:
    run = Run(client, random_request(1, 20, budgets="loose", horizon=20, orders=True))
    before = begun(run.period)
    answer = run.aggregate(lost=run.period["sampled"][:1])
    newcomer = answer["replaced"][0]["by"]
    after = begun(answer)
    assert {after[pair] for pair in after if pair[1] == newcomer} == {0}
    again = [pair for pair in after if pair in before]
    assert again
    assert all(after[pair] > before[pair] for pair in again)


def begun(period: Json) -> dict[tuple[int, int], int]:
    """Where the first range of each pair begins."""
    found: dict[tuple[int, int], int] = {}
    for order in period["orders"]:
        for send in order["sends"]:
            found.setdefault((order["device"], send["to"]), send["first"])
    return found


def test_a_lost_sender_sends_nothing_and_its_data_does_not_count(client: httpx.Client) -> None:
    run = Run(client, random_request(2, 12, horizon=20))
    senders = {k for step in run.period["steps"] for k in step["transfers"]["source"]}
    answer = run.aggregate(lost=sorted(senders))
    assert answer["replaced"] == []
    assert not senders & {k for step in answer["steps"] for k in step["transfers"]["source"]}
    back = run.aggregate(joined=sorted(senders))
    assert senders & {k for step in back["steps"] for k in step["transfers"]["source"]}


def test_a_run_that_never_resamples_goes_on_with_those_that_remain(client: httpx.Client) -> None:
    run = Run(client, random_request(3, 12, horizon=30, resample={"when": "never"}))
    first, second, third = run.period["sampled"]
    answer = run.aggregate(lost=[second])
    assert answer["sampled"] == [first, third]
    assert answer["replaced"] == [{"lost": second, "reason": "lost"}]
    refused = run.send(lost=[first, third])
    assert refused.status_code == 422
    assert refused.json()["type"] == "urn:fedsift:problem:infeasible"
    assert [(one["device"], one["reason"]) for one in refused.json()["devices"]] == [(first, "lost"), (third, "lost")]
    assert run.aggregate(lost=[first])["sampled"] == [third]
    # One report may ask for more than the run does.
    assert len(run.aggregate(resample={"when": "lost"})["sampled"]) == 3


def test_no_more_devices_come_than_max_swaps_says(client: httpx.Client) -> None:
    run = Run(client, random_request(4, 15, horizon=30, resample={"when": "lost", "max_swaps": 1}))
    first = run.aggregate(lost=run.period["sampled"])
    assert len(first["sampled"]) == 1
    assert [("by" in one) for one in first["replaced"]] == [True, False, False]
    assert len(run.aggregate()["sampled"]) == 2
    assert run.period["replaced"][0]["reason"] == "vacant"
    assert len(run.aggregate()["sampled"]) == 3


def test_swaps_that_are_worth_it_are_made_only_if_asked_for(client: httpx.Client) -> None:
    request = random_request(5, 20, horizon=30, sampler="random", seed=3)
    assert Run(client, request).aggregate()["replaced"] == []
    run = Run(client, {**request, "resample": {"when": "always", "max_swaps": 2}})
    answer = run.aggregate()
    assert 1 <= len(answer["replaced"]) <= 2
    assert {one["reason"] for one in answer["replaced"]} == {"swapped"}


def test_devices_that_can_process_their_data_no_longer_are_replaced(client: httpx.Client) -> None:
    run = Run(client, random_request(6, 20, horizon=20))
    weak = run.period["sampled"][0]
    capacity = run.reported.columns["processing_capacity"].copy()
    capacity[weak] = 1.0
    change = {"step": 7, "devices": {"processing_capacity": capacity.tolist()}}
    answer = run.aggregate(schedule=[change])
    (one,) = answer["replaced"]
    assert one["lost"] == weak
    assert "its capacity is 1" in one["reason"]


def test_data_that_did_not_arrive_is_sent_again(client: httpx.Client) -> None:
    run = Run(client, random_request(7, 12, budgets="loose", horizon=30))
    moving = client.get(run.place).json()["moving"]
    late = {"source": moving["source"][:2], "target": moving["target"][:2], "datapoints": [0.0, 1.0]}
    run.aggregate(delivered=late)
    now = client.get(run.place).json()
    np.testing.assert_allclose(now["sampled_data"], run.period["steps"][-1]["sampled_data"])
    for field, value in (("datapoints", [1e9]), ("target", [now["moving"]["source"][0]])):
        one = {name: now["moving"][name][:1] for name in ("source", "target", "datapoints")} | {field: value}
        refused = run.send(delivered=one)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"].startswith("/delivered/")
    twice = {name: now["moving"][name][:1] * 2 for name in ("source", "target", "datapoints")}
    assert run.send(delivered=twice).json()["errors"][0]["pointer"] == "/delivered/source/1"
    assert run.send(delivered={"datapoints": [1.0]}).json()["errors"][0]["pointer"] == "/delivered/source"


def test_own_data_that_changed_counts_from_then_on(client: httpx.Client) -> None:
    run = Run(client, random_request(7, 12, budgets="loose", horizon=30))
    trains, sends = run.period["sampled"][0], run.period["steps"][0]["transfers"]["source"][0]
    before = run.period["steps"][-1]["sampled_data"][0]
    now = run.reported.own[[trains, sends]] * [0.9, 1.5]
    changed = {"device": [trains, sends], "datapoints": now.tolist()}
    less = run.reported.own[trains] - now[0]
    first = run.aggregate(data=changed)["steps"][0]
    assert first["sampled_data"][0] - first["received"][0] == pytest.approx(before - less)
    run.aggregate()
    for wrong, place in (
        ({"device": [0], "datapoints": [1.0, 2.0]}, "/data/datapoints"),
        ({"device": [1, 1], "datapoints": [1.0, 2.0]}, "/data/device/1"),
        ({"datapoints": [1.0]}, "/data/device"),
        ({"device": [12], "datapoints": [1.0]}, "/data/device/0"),
    ):
        assert run.send(data=wrong).json()["errors"][0]["pointer"] == place


def test_a_few_links_change_and_a_lost_device_is_replaced_at_once(client: httpx.Client) -> None:
    """A patch names what changes; it holds for the rest of the run, across later periods."""
    run = Run(client, random_request(6, 20, horizon=20))
    lost = run.period["sampled"][0]
    stays = run.period["sampled"][1]
    senders = sorted({k for k in range(20) if run.reported.linked[k, stays]})
    gone = [{"source": k, "target": stays} for k in senders]
    run.reported.linked[:, stays] = False
    answer = run.aggregate(lost=[lost], schedule=[{"step": 6, "patch": {"remove_links": gone}}])
    assert stays in answer["sampled"]
    for period in (answer, run.aggregate()):
        assert all(stays not in step["transfers"]["target"] for step in period["steps"])


@pytest.mark.parametrize("limits", [{"max_periods": 2}, {"rest_periods": 1}, {"max_periods": 2, "rest_periods": 2}])
def test_no_device_trains_more_often_than_it_may(client: httpx.Client, limits: Json) -> None:
    run = Run(client, random_request(8, 20, horizon=30, participation=limits))
    sets = [run.period["sampled"]] + [run.aggregate()["sampled"] for _ in range(5)]
    for device in range(20):
        trained = [k for k, one in enumerate(sets) if device in one]
        assert len(trained) <= limits.get("max_periods", 6)
        assert all(b - a > limits.get("rest_periods", 0) for a, b in pairwise(trained))


def test_limits_that_leave_nobody_are_told_device_by_device(client: httpx.Client) -> None:
    request = random_request(8, 6, horizon=30, eligible=[0, 1, 2], participation={"max_periods": 1})
    refused = Run(client, request).send()
    assert refused.status_code == 422
    assert {one["device"] for one in refused.json()["devices"]} == {0, 1, 2}
    assert "max_periods is 1" in refused.json()["devices"][0]["reason"]
    never = client.post("/v1/runs", json={**request, "resample": {"when": "never"}})
    assert never.json()["errors"][0]["pointer"] == "/participation"


def test_enough_of_each_group_train_from_the_first_period_on(client: httpx.Client) -> None:
    free = Run(client, random_request(8, 20, horizon=30)).period["sampled"]
    group = [device for device in range(20) if device not in free][:5]
    share = {"name": "site-a", "devices": group, "min_share": 0.5}
    run = Run(client, random_request(8, 20, horizon=30, participation={"groups": [share]}))
    assert len(set(group) & set(run.period["sampled"])) == 2
    lost = [device for device in run.period["sampled"] if device in group]
    answer = run.aggregate(lost=lost)
    assert len(set(group) & set(answer["sampled"])) == 2
    rest = [device for device in group if device not in [*lost, *answer["sampled"]]]
    refused = run.send(lost=[*rest, answer["sampled"][0], *set(group) & set(answer["sampled"])])
    assert refused.status_code == 422
    assert refused.json()["detail"] == "2 devices of the group site-a are to train, 0 can"
    assert {one["device"]: one["reason"] for one in refused.json()["devices"]} == dict.fromkeys(group, "lost")


def test_groups_that_no_set_has_are_refused(client: httpx.Client) -> None:
    def post(*groups: list[int]) -> httpx.Response:
        asked = [{"name": f"site-{i}", "devices": devices, "min_share": 0.6} for i, devices in enumerate(groups)]
        return client.post("/v1/runs", json=random_request(2, 10, participation={"groups": asked}))

    assert set(post([0, 1], [1, 2]).json()["sampled"]) == {0, 1, 2}
    refused = post([0, 1, 2], [0, 3, 4], [0, 5, 7], list(range(10)))
    assert refused.status_code == 422
    assert refused.json()["detail"] == (
        "no 3 devices have the least share of all these groups: 2 of site-0, 2 of site-1, 2 of site-2"
    )
    told = {one["device"]: one["reason"] for one in refused.json()["devices"]}
    assert told[0] == "can train, and counts for site-0, site-1, site-2"
    assert told[7] == "can train, and counts for site-2"
    assert set(told) == {0, 1, 2, 3, 4, 5, 7}
    alone = post([0])
    assert alone.json()["errors"] == [
        {"pointer": "/participation/groups/0/min_share", "detail": "asks for 2 devices of sample_size, the group has 1"}
    ]


def test_groups_that_can_no_longer_be_met_together_are_told_with_their_devices(client: httpx.Client) -> None:
    """One device is in all groups. When it is lost, three groups need four devices."""
    asked = [
        {"name": f"site-{i}", "devices": devices, "min_share": 0.6}
        for i, devices in enumerate(([0, 1, 2], [0, 1, 4], [0, 5, 1]))
    ]
    run = Run(client, random_request(2, 10, horizon=30, participation={"groups": asked}))
    assert {0, 1} <= set(run.period["sampled"])
    refused = run.send(lost=[0]).json()
    assert refused["detail"].startswith("no 3 devices have the least share of all these groups: 2 of site-0, ")
    told = {one["device"]: one["reason"] for one in refused["devices"]}
    assert told[0] == "lost"
    assert told[1] == "can train, and counts for site-0, site-1, site-2"


def test_everybody_who_cannot_take_a_place_is_told_with_the_reason(client: httpx.Client) -> None:
    run = Run(client, random_request(8, 6, horizon=30, participation={"max_periods": 1}))
    first = run.period["sampled"]
    second = run.aggregate(lost=[first[0]])["sampled"]
    assert len(second) == 3
    refused = run.send(lost=[second[0]], resample={"when": "always"}).json()
    told = {one["device"]: one["reason"] for one in refused["devices"]}
    assert told == dict.fromkeys(range(6), "has trained in 1 periods, max_periods is 1") | {
        first[0]: "lost",
        second[0]: "lost",
    }


def test_groups_are_those_of_a_fleet_and_wrong_ones_are_named(client: httpx.Client) -> None:
    devices = [
        {"id": f"cam-{i}", "datapoints": 500 - 50 * i, "samples_per_second": 40, "group": "ab"[i // 3]}
        for i in range(6)
    ]
    fleet = {"step_seconds": 60, "datapoint_bytes": 3136, "devices": devices, "links": []}
    request = {"fleet": fleet, "sample_size": 2, "horizon": 10}

    def post(*groups: Json) -> httpx.Response:
        return client.post("/v1/runs", json={**request, "participation": {"groups": list(groups)}})

    assert set(post({"name": "b", "min_share": 1.0}).json()["sampled"]) < {3, 4, 5}
    for groups, place in (
        ([{"name": "c", "min_share": 0.5}], "/participation/groups/0/name"),
        ([{"name": "c", "device_ids": ["x"], "min_share": 0.5}], "/participation/groups/0/device_ids/0"),
        ([{"name": "a", "min_share": 1.0}, {"name": "b", "min_share": 0.5}], "/participation/groups"),
        ([{"name": "a", "min_share": 2.0}], "/participation/groups/0/min_share"),
    ):
        assert post(*groups).json()["errors"][0]["pointer"] == place


def test_reports_replay_and_name_what_is_wrong(client: httpx.Client) -> None:
    run = Run(client, random_request(9, 12, horizon=20))
    lost = run.period["sampled"][0]
    for field, value in (("lost", [12]), ("lost", [1, 1]), ("joined", [-1]), ("lost_ids", ["x"])):
        assert run.send(**{field: value}).json()["errors"][0]["pointer"].startswith(f"/{field}")
    first = run.send(lost=[lost])
    again = run.send(lost=[lost])
    assert again.content == first.content
    assert again.headers["idempotent-replay"] == "true"
    assert run.send().status_code == 409
    assert run.send(lost=[lost], joined=[lost]).status_code == 409


def test_devices_of_a_fleet_are_lost_by_id(client: httpx.Client) -> None:
    devices = [{"id": f"cam-{i}", "datapoints": 100 + i, "samples_per_second": 40} for i in range(6)]
    links = [{"from": f"cam-{i}", "to": f"cam-{j}", "mbps": 6} for i in range(6) for j in range(6) if i != j]
    fleet = {"step_seconds": 60, "datapoint_bytes": 3136, "devices": devices, "links": links}
    first = client.post("/v1/runs", json={"fleet": fleet, "sample_size": 2, "horizon": 10})
    place, lost = first.headers["location"], first.json()["sampled_ids"][0]
    report = {"aggregation": 1, "gradient_norm": 0.5, "lost_ids": [lost]}
    answer = client.post(f"{place}/aggregations", json=report).json()
    (one,) = answer["replaced"]
    assert (one["lost_id"], one["by_id"]) == (lost, answer["sampled_ids"][0])
    assert answer["fleet"] == first.json()["fleet"]
    assert client.get(place).json()["sampled_ids"] == answer["sampled_ids"]
    listed = client.get(f"{place}/aggregations").json()["aggregations"][1]
    assert listed["replaced"] == answer["replaced"]
    assert (listed["gradient_norm"], listed["objective"]) == (0.5, answer["objective"])


def test_the_recomputation_finds_a_wrong_answer(client: httpx.Client) -> None:
    run = Run(client, random_request(1, 12, horizon=20))
    lost = run.period["sampled"][0]
    answer = run.send(lost=[lost]).json()
    with pytest.raises(BrokenAnswerError, match="sampled_data"):
        run.reported.take({"lost": [lost, answer["sampled"][1]], "joined": [answer["sampled"][1]]}, answer)


def events(client: httpx.Client, place: str, after: int = 0) -> list[Json]:
    text = client.get(f"{place}/events", headers={"last-event-id": str(after)}).text
    blocks = (block.splitlines() for block in text.split("\n\n") if "data" in block)
    found = [dict(line.split(": ", 1) for line in lines) for lines in blocks]
    return [{"number": int(one["id"]), "kind": one["event"], **json.loads(one["data"])} for one in found]


def test_events_tell_plans_and_replacements_and_can_be_resumed(client: httpx.Client) -> None:
    run = Run(client, random_request(1, 12, horizon=15))
    lost = run.period["sampled"][0]
    run.aggregate(lost=[lost])
    run.aggregate()
    told = events(client, run.place)
    assert [(one["number"], one["kind"], one["aggregation"]) for one in told] == [
        (1, "plan", 0),
        (2, "plan", 1),
        (3, "plan", 2),
    ]
    assert [[one["lost"] for one in each["replaced"]] for each in told] == [[], [lost], []]
    assert told[-1]["sampled"] == run.period["sampled"]
    assert events(client, run.place, after=2) == told[2:]
    assert client.get(f"{run.place}/events", headers={"last-event-id": "3"}).status_code == 204
    listed = client.get(f"{run.place}/aggregations").json()["aggregations"]
    assert [{**one, "number": k + 1, "kind": "plan"} for k, one in enumerate(listed)] == told


def test_gradient_norms_of_devices_are_shown_and_do_not_change_plans(client: httpx.Client) -> None:
    request = random_request(1, 12, horizon=30)
    run, other = Run(client, request), Run(client, request)
    first, second = sorted(run.period["sampled"][:2])
    norms = {"device": [first, second], "norms": [0.5, 2.0]}
    assert run.aggregate(gradient_norms=norms)["objective"] == other.aggregate()["objective"]
    assert client.get(run.place).json()["gradient_norms"] == norms
    assert "gradient_norms" not in client.get(other.place).json()
    run.aggregate(lost=[second], gradient_norms={"device": [first], "norms": [0.25]})
    assert client.get(run.place).json()["gradient_norms"] == {"device": [first], "norms": [0.25]}
    listed = client.get(f"{run.place}/aggregations").json()["aggregations"]
    assert [one.get("gradient_norms", {}).get("norms") for one in listed] == [None, [0.5, 2.0], [0.25]]
    for wrong, place in (
        ({"device": [0], "norms": [1.0, 2.0]}, "/gradient_norms/norms"),
        ({"device": [1, 1], "norms": [1.0, 2.0]}, "/gradient_norms/device/1"),
        ({"device_ids": ["a"], "norms": [1.0]}, "/gradient_norms/device_ids"),
    ):
        assert run.send(gradient_norms=wrong).json()["errors"][0]["pointer"] == place
