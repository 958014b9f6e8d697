"""Examples of the operations on stored networks."""

from typing import Any

from app.plans.request import EXAMPLE

__all__ = ["NETWORK_ARCHIVE_SAMPLE", "NETWORK_ID", "NETWORK_REQUESTS", "NETWORK_RESPONSES"]

NETWORK_ID = "net_0d4e8a1b2c3f49a58b6c7d8e9f001122"
_MADE = "2026-03-02T09:30:00Z"
_NETWORK: dict[str, Any] = {
    **EXAMPLE["network"],
    "devices": {"id": ["hub", "cam-1", "cam-2"], **EXAMPLE["network"]["devices"]},
}
_PATCHED = {
    "devices": {**_NETWORK["devices"], "transmit_budget": [80.0, 30.0, 70.0]},
    "topology": {
        "kind": "links",
        "source": [2],
        "target": [0],
        "similarity": [0.1],
        "transmit_cost": [0.9],
    },
}
_STORED: dict[str, Any] = {
    "id": NETWORK_ID,
    "version": 1,
    "kind": "network",
    "created_at": _MADE,
    "updated_at": _MADE,
    "n_devices": 3,
    "n_links": 2,
    "name": "campus",
}
_NEXT: dict[str, Any] = {**_STORED, "version": 2, "n_links": 1}

NETWORK_REQUESTS: dict[str, Any] = {
    "createNetwork": {"name": "campus", "network": _NETWORK},
    "patchNetwork": {
        "expected_version": 1,
        "devices": [{"id": "cam-1", "transmit_budget": 30}],
        "links": [{"from": "cam-2", "to": "hub", "transmit_cost": 0.9}],
        "remove_links": [{"from": "cam-1", "to": "hub"}],
    },
}
NETWORK_RESPONSES: dict[str, dict[str, Any]] = {
    "createNetwork": {"201": _STORED},
    "createBinaryNetwork": {"201": _STORED},
    "patchNetwork": {"200": _NEXT},
    "getNetwork": {"200": {**_NEXT, "network": _PATCHED}},
    "listNetworks": {"200": {"networks": [_NEXT]}},
}
# The document cannot hold an archive, so this program shows how to make one. A test runs it.
NETWORK_ARCHIVE_SAMPLE = """\
import io, json, urllib.request
import numpy as np

parameters = json.dumps({"name": "campus", "ids": ["hub", "cam-1"]}).encode()
columns = {
    "data": [600.0, 580], "processing_capacity": [2000.0, 900], "processing_cost": [0.8, 1.0],
    "receive_capacity": [200.0, 100], "transmit_budget": [80.0, 60],
    "source": [1], "target": [0], "similarity": [0.4], "transmit_cost": [0.5],
}
body = io.BytesIO()
np.savez(body, parameters=np.frombuffer(parameters, np.uint8), **{k: np.array(v) for k, v in columns.items()})
request = urllib.request.Request(
    f"{url}/v1/networks/binary", body.getvalue(), {"Content-Type": "application/vnd.fedsift.npz"}
)
with urllib.request.urlopen(request) as answer:
    print(answer.headers["Location"])
"""
