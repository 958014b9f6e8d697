"""Orders of a constant network, recomputed from the request and the plan's transfers alone."""

from collections import defaultdict
from typing import Any

__all__ = ["check_orders"]

Pair = tuple[int, int]


def check_orders(request: dict[str, Any], steps: list[dict[str, Any]], orders: list[dict[str, Any]]) -> int:
    """Check the orders of all steps of a plan that sends once; the datapoints that they send.

    `orders` may have several entries for a device, for one period after the other.
    """
    devices, topology = request["network"]["devices"], request["network"]["topology"]
    columns = (topology[name] for name in ("source", "target", "similarity", "transmit_cost"))
    links = {(k, i): (1 - same, cost) for k, i, same, cost in zip(*columns, strict=True)}
    told: dict[Pair, int] = defaultdict(int)
    by_step: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for order in orders:
        for send in order["sends"]:
            pair = order["device"], send["to"]
            assert send["first"] == told[pair]
            assert send["count"] >= 1
            told[pair] += send["count"]
            assert told[pair] <= devices["data"][order["device"]]
            by_step[send["step"]].append((*pair, send["count"]))
    assert set(by_step) <= {step["step"] for step in steps}
    reached: dict[Pair, int] = defaultdict(int)
    planned: dict[Pair, float] = defaultdict(float)
    used: dict[Pair, int] = defaultdict(int)
    for step in steps:
        spent: dict[int, float] = defaultdict(float)
        arrived: dict[int, float] = defaultdict(float)
        moved = step["transfers"]
        for k, i, amount in zip(moved["source"], moved["target"], moved["datapoints"], strict=True):
            planned[k, i] += amount
            used[k, i] += 1
        for k, i, count in by_step[step["step"]]:
            kept, cost = links[k, i]
            spent[k] += cost * count
            arrived[i] += kept * count
            reached[k, i] += count
        assert all(-1e-6 * reached[pair] <= planned[pair] - reached[pair] < used[pair] for pair in planned)
        assert all(spent[k] <= devices["transmit_budget"][k] * (1 + 1e-9) for k in spent)
        assert all(arrived[i] <= devices["receive_capacity"][i] * (1 + 1e-9) for i in arrived)
    return sum(reached.values())
