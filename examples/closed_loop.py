"""The closed loop in forty lines of plain Python: `python examples/closed_loop.py [URL]`.

An orchestrator trains for τ steps, aggregates, measures the gradient's norm, and asks for the next τ steps.
"""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
NETWORK = json.loads(Path(__file__).with_name("network.json").read_text(encoding="utf-8"))
# Conditions change as well: from step 11 on device 3 can hardly send.
CHANGES = {2: [{"step": 11, "devices": {"transmit_budget": [80, 60, 60, 5]}}]}
LOST = {3: 1}  # and devices fail: at aggregation 3 the first of those that train is lost


def post(path: str, **body: Any) -> Any:
    """The service's answer, in JSON as the request."""
    request = Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urlopen(request, timeout=60))


def train(period: dict[str, Any]) -> float:
    """Here the devices in period["sampled"] train on what period["steps"] sends them; this only pretends."""
    return float(0.9 ** period["steps"][-1]["step"])


period = post("/v1/runs", network=NETWORK, sample_size=2, horizon=20, aggregation_period=5)
while True:
    held = [round(data) for data in period["steps"][-1]["sampled_data"]]
    print(f"until step {period['steps'][-1]['step']}: devices {period['sampled']} hold {held} datapoints")
    if period["state"] == "finished":
        break
    k = period["aggregation"] + 1
    changed = {"schedule": CHANGES.get(k, []), "lost": period["sampled"][: LOST.get(k, 0)]}
    period = post(f"/v1/runs/{period['id']}/aggregations", aggregation=k, gradient_norm=train(period), **changed)
    for one in period["replaced"]:
        print(f"device {one['lost']} is lost: device {one['by']} takes its place")
