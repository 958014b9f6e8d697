"""Orders of a run follow on from period to period."""

import httpx

from tests.support.orders import check_orders
from tests.support.requests import random_request


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
    sent = check_orders(request, steps, orders)
    # With a constant gradient the periods make up the plan, and their orders the plan's.
    assert sent == sum(send["count"] for order in whole["orders"] for send in order["sends"])
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
