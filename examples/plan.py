"""A plan in plain Python: `python examples/plan.py [URL]`."""

import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
network = json.loads(Path(__file__).with_name("network.json").read_text(encoding="utf-8"))
body = json.dumps({"network": network, "sample_size": 2, "horizon": 3}).encode()
try:
    with urlopen(Request(f"{url}/v1/plans", body, {"Content-Type": "application/json"}), timeout=60) as answer:
        plan = json.load(answer)
except HTTPError as error:
    # A problem document says which rule was broken, and where.
    problem = json.load(error)
    sys.exit(f"{problem['title']}: {problem.get('errors', problem['detail'])}")
print(f"devices {plan['sampled']} train; the plan is within {plan['relative_gap']:.1e} of the optimum")
for step in plan["steps"]:
    moves = zip(*(step["transfers"][name] for name in ("source", "target", "datapoints")), strict=True)
    told = [f"{source} sends {datapoints:.0f} to {target}" for source, target, datapoints in moves]
    print(f"step {step['step']}:", ", ".join(told) or "nothing moves")
