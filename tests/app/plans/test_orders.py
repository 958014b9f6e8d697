"""Orders: what each device sends, in whole datapoints, beside a plan and by themselves."""

import io
import json
from typing import Any

import httpx
import numpy as np
import pytest

from solver.instances import random_network
from tests.support.fleets import FLEET
from tests.support.orders import check_orders
from tests.support.requests import as_request, random_request


def made(client: httpx.Client, request: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("budgets", ["loose", "tight", "scarce"])
def test_orders_carry_out_the_plan(client: httpx.Client, budgets: str) -> None:
    request = random_request(3, 25, budgets=budgets, horizon=9, orders=True)
    plan = made(client, request)
    sent = check_orders(request, plan["steps"], plan["orders"])
    assert (sent > 0) == (budgets != "scarce")  # no step of a scarce budget has room for a datapoint
    assert sent + plan["datapoints_left"] == pytest.approx(plan["datapoints_moved"], abs=1e-3)
    devices = [order["device"] for order in plan["orders"]]
    assert devices == sorted(set(devices))
    assert plan["timing_ms"]["orders"] > 0


def test_there_are_none_unless_they_are_asked_for(client: httpx.Client) -> None:
    request = random_request(3, 25)
    plan = made(client, {**request, "keep": True})
    assert "orders" not in plan
    answer = client.get(f"/v1/plans/{plan['id']}/orders")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "this was planned without orders: ask for them with `orders`"


def test_a_redrawing_plan_is_carried_out_by_sending_once(client: httpx.Client) -> None:
    request = random_request(4, 20, budgets="loose", horizon=8, orders=True)
    redraw = made(client, {**request, "transfer": "redraw"})
    told = [send["count"] for order in redraw["orders"] for send in order["sends"]]
    assert 0 < sum(told) < 0.8 * redraw["datapoints_moved"]


def test_a_kept_plan_tells_each_device_its_own(client: httpx.Client) -> None:
    plan = made(client, random_request(3, 25, orders=True, keep=True))
    place = f"/v1/plans/{plan['id']}/orders"
    assert client.get(place).json() == {"orders": plan["orders"]}
    one = plan["orders"][1]
    assert client.get(place, params={"device": one["device"]}).json() == {"orders": [one]}
    silent = plan["sampled"][0]
    assert client.get(place, params={"device": silent}).json() == {"orders": [{"device": silent, "sends": []}]}
    far = client.get(place, params={"device": 25})
    assert (far.status_code, far.json()["errors"]) == (
        422,
        [{"parameter": "device", "detail": "must be below 25, the number of devices"}],
    )
    assert client.get(place, params={"id": "cam"}).json()["errors"][0]["detail"] == "is the id of no device"
    assert client.get(f"/v1/plans/plan_{'0' * 32}/orders").status_code == 404


def test_devices_with_ids_are_asked_for_by_id(client: httpx.Client) -> None:
    plan = made(client, {"fleet": FLEET, "sample_size": 1, "horizon": 3, "orders": True, "keep": True})
    assert plan["sampled_ids"] == ["hub"]
    by_id = {order["id"]: order for order in plan["orders"]}
    assert by_id.keys() == {"cam-1", "cam-3"}
    assert by_id["cam-1"]["device"] == 1
    assert {(send["to"], send["to_id"]) for order in plan["orders"] for send in order["sends"]} == {(0, "hub")}
    place = f"/v1/plans/{plan['id']}/orders"
    assert client.get(place, params={"id": "cam-3"}).json() == {"orders": [by_id["cam-3"]]}
    assert client.get(place, params={"id": "cam-2"}).json() == {"orders": [{"device": 2, "id": "cam-2", "sends": []}]}
    both = client.get(place, params={"id": "cam-3", "device": 3})
    assert both.json()["errors"][0]["detail"] == "`device` names a device too: give one of the two"


def test_a_binary_answer_has_them_as_columns(client: httpx.Client) -> None:
    network = random_network(np.random.default_rng(5), 30)
    parameters = {"sample_size": 4, "horizon": 7, "orders": True}
    expected = made(client, as_request(network, **parameters))["orders"]
    request = as_request(network)["network"]
    arrays: dict[str, Any] = {name: np.array(column) for name, column in request["devices"].items()}
    arrays |= {name: np.array(column) for name, column in request["topology"].items() if name != "kind"}
    body = io.BytesIO()
    np.savez(body, **arrays, parameters=np.frombuffer(json.dumps(parameters).encode(), np.uint8))
    headers = {"content-type": "application/vnd.fedsift.npz"}
    answer = client.post("/v1/plans/binary", content=body.getvalue(), headers=headers)
    assert answer.status_code == 200, answer.text
    with np.load(io.BytesIO(answer.content)) as file:
        columns = [file[f"order_{name}"].tolist() for name in ("source", "step", "target", "first", "count")]
    assert list(zip(*columns, strict=True)) == [
        (order["device"], send["step"], send["to"], send["first"], send["count"])
        for order in expected
        for send in order["sends"]
    ]
