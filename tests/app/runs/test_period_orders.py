"""Orders of a run follow on from period to period."""

from typing import Any

import httpx

from tests.support.orders import check_orders
from tests.support.requests import random_request


def rows(orders: list[dict[str, Any]]) -> list[tuple[int, int, int, int, int]]:
    """(device, step, to, first, count) of each send."""
    return [(o["device"], s["step"], s["to"], s["first"], s["count"]) for o in orders for s in o["sends"]]


def test_periods_follow_on(client: httpx.Client) -> None:
    request = random_request(3, 25, horizon=9, aggregation_period=4, orders=True, sampler="heuristic")
    whole = client.post("/v1/plans", json=request).json()
    answer = client.post("/v1/runs", json=request)
    assert answer.status_code == 201, answer.text
    place = answer.headers["location"]
    reports = ({"aggregation": k, "gradient_norm": 1.0} for k in (1, 2))
    periods = [answer.json(), *(client.post(f"{place}/aggregations", json=report).json() for report in reports)]
    steps = [step for period in periods for step in period["steps"]]
    orders = [order for period in periods for order in period["orders"]]
    assert check_orders(request, steps, orders) > 0
    # The first period is the beginning of the plan. The next ones plan again what its orders left.
    assert rows(periods[0]["orders"]) == [row for row in rows(whole["orders"]) if row[1] <= 4]
    assert 0 < periods[0]["datapoints_left"] < sum(sum(s["transfers"]["datapoints"]) for s in steps[:4])
    firsts = [send["first"] for order in periods[2]["orders"] for send in order["sends"]]
    assert max(firsts) > 0

    for k, period in enumerate(periods):
        at = f"{place}/aggregations/{k}/orders"
        assert client.get(at).json() == {"orders": period["orders"]}
        one = period["orders"][0]
        assert client.get(at, params={"device": one["device"]}).json() == {"orders": [one]}
    missing = client.get(f"{place}/aggregations/3/orders")
    assert (missing.status_code, missing.json()["detail"]) == (404, "this aggregation has not been answered")
    assert client.get(f"/v1/runs/run_{'0' * 32}/aggregations/0/orders").status_code == 404


def test_orders_go_on_from_what_arrived(client: httpx.Client) -> None:
    request = random_request(3, 25, budgets="loose", horizon=4, aggregation_period=2, orders=True)
    answer = client.post("/v1/runs", json=request)
    first = answer.json()
    # The pair whose next order begins latest if all of it arrives.
    sends = [(order["device"], send["to"], send["count"]) for order in first["orders"] for send in order["sends"]]
    source, target, _ = max(sends, key=lambda one: one[2])
    fewer = {"source": [source], "target": [target], "datapoints": [7]}
    report = {"aggregation": 1, "gradient_norm": 1.0, "delivered": fewer}
    period = client.post(f"{answer.headers['location']}/aggregations", json=report)
    assert period.status_code == 200, period.text
    (order,) = (one for one in period.json()["orders"] if one["device"] == source)
    again = [send for send in order["sends"] if send["to"] == target]
    assert again[0]["first"] == 7
