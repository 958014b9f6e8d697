"""The closed loop in forty lines: `python examples/closed_loop.py [URL]`.

An orchestrator trains for τ steps, aggregates, measures the gradient's norm, and asks for the next τ steps.
"""

import json
import sys
from pathlib import Path
from typing import Any

import httpx

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
NETWORK = json.loads(Path(__file__).with_name("network.json").read_text(encoding="utf-8"))
REQUEST = {"network": NETWORK, "sample_size": 2, "horizon": 20, "aggregation_period": 5}
# Conditions change as well: from step 11 on device 3 can hardly send.
CHANGES = {2: [{"step": 11, "devices": {"transmit_budget": [80, 60, 60, 5]}}]}
# And devices fail: at aggregation 3 the first of those that train is lost.
LOST = {3: 1}


def train(period: dict[str, Any]) -> float:
    """Here the devices in period["sampled"] train on what period["steps"] sends them; this only pretends."""
    return float(0.9 ** period["steps"][-1]["step"])


with httpx.Client(base_url=URL, timeout=60) as client:
    period = client.post("/v1/runs", json=REQUEST).raise_for_status().json()
    while True:
        last = period["steps"][-1]
        held = [round(data) for data in last["sampled_data"]]
        print(f"until step {last['step']}: devices {period['sampled']} hold {held} datapoints")
        if period["state"] == "finished":
            break
        k = period["aggregation"] + 1
        report = {"aggregation": k, "gradient_norm": train(period), "schedule": CHANGES.get(k, [])}
        report["lost"] = period["sampled"][: LOST.get(k, 0)]
        period = client.post(f"/v1/runs/{period['id']}/aggregations", json=report).raise_for_status().json()
        for one in period["replaced"]:
            print(f"device {one['lost']} is lost: device {one['by']} takes its place")
