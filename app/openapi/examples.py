"""An example for every operation of the document; tests compare each with the answer of a live service."""

from importlib.metadata import version
from typing import Any

from app.datasets.schemas import absence
from app.openapi.comparison_examples import COMPARISON_REQUESTS, COMPARISON_RESPONSES
from app.openapi.network_examples import (
    NETWORK_ARCHIVE_SAMPLE,
    NETWORK_ID,
    NETWORK_REQUESTS,
    NETWORK_RESPONSES,
)
from app.openapi.validation_examples import VALIDATION_ID, VALIDATION_REQUESTS, VALIDATION_RESPONSES
from app.openapi.webhook_examples import WEBHOOK_ID, WEBHOOK_REQUESTS, WEBHOOK_RESPONSES
from app.plans.request import EXAMPLE

__all__ = ["ARCHIVE_SAMPLE", "PLAN_REQUEST", "REQUESTS", "RESPONSES", "RUN_ARCHIVE_SAMPLE", "RUN_ID", "add_examples"]

PLAN_ID = "plan_5ca482e6adde7ad29e796d53d5507799"
RUN_ID = "run_6d1f0c9e5b7a4a3f8e2d1c0b9a887766"
PLAN_REQUEST: dict[str, Any] = {
    "network": EXAMPLE["network"],
    "sample_size": 1,
    "horizon": 2,
    "aggregation_period": 1,
    "sampler": "heuristic",
    "orders": True,
}
_TRANSFERS = {
    "source": [1, 2],
    "target": [0, 0],
    "fraction": [0.20689655172413793, 0.1639344262295082],
    "datapoints": [120.0, 100.0],
}
_FIRST_STEP: dict[str, Any] = {
    "step": 1,
    "transfers": _TRANSFERS,
    "sampled_data": [762.0],
    "received": [162.0],
    "objective": 0.6458573253410945,
    "sampling_term": 0.6096311475409836,
    "statistical_term": 0.03622617780011092,
    "transmit_term": 0.0,
    "processing_term": 0.0,
    "energy_term": 0.0,
    "gradient_norm": 1.0,
    "relative_gap": 0.0,
    "max_violation": 0.0,
    "status": "optimal",
}
_SECOND_STEP: dict[str, Any] = {
    **_FIRST_STEP,
    "step": 2,
    "sampled_data": [924.0],
    "objective": 0.5958114920327566,
    "sampling_term": 0.5629139072847682,
    "statistical_term": 0.03289758474798845,
}
_TERMS = ("objective", "sampling_term", "statistical_term", "transmit_term", "processing_term", "energy_term")
_FIRST_SENDS: list[dict[str, Any]] = [
    {"device": 1, "sends": [{"step": 1, "to": 0, "first": 0, "count": 120}]},
    {"device": 2, "sends": [{"step": 1, "to": 0, "first": 0, "count": 100}]},
]
_SECOND_SENDS: list[dict[str, Any]] = [
    {"device": 1, "sends": [{"step": 2, "to": 0, "first": 120, "count": 120}]},
    {"device": 2, "sends": [{"step": 2, "to": 0, "first": 100, "count": 100}]},
]
_ALL_SENDS = [
    {"device": one["device"], "sends": [*one["sends"], *other["sends"]]}
    for one, other in zip(_FIRST_SENDS, _SECOND_SENDS, strict=True)
]
_ASKED = {
    "n_devices": 3,
    "sample_size": 1,
    "horizon": 2,
    "aggregation_period": 1,
    "sampler": "heuristic",
    "seed": 0,
}
_MADE = "2026-03-02T09:30:00Z"
_PLAN: dict[str, Any] = {
    "kind": "plan",
    **_ASKED,
    "sampled": [0],
    "scores": [2500.0],
    "sampler_status": "complete",
    "transfer": "send_once",
    "planning": "step",
    "status": "optimal",
    "objective": 0.6208344086869255,
    "sampling_term": 0.5862725274128759,
    "statistical_term": 0.03456188127404969,
    "transmit_term": 0.0,
    "processing_term": 0.0,
    "energy_term": 0.0,
    "relative_gap": 0.0,
    "max_violation": 0.0,
    "horizon_bound": 0.6208344086869255,
    "horizon_gap": 0.0,
    "set_bound": 0.6208344080660912,
    "set_gap": 1e-09,
    "datapoints_moved": 440.0,
    "transmit_cost": 260.0,
    "processing_cost": 1348.8,
    "timing_ms": {"parse": 0.9, "sample": 0.4, "solve": 0.7, "orders": 0.3, "bound": 0.2},
    "orders": _ALL_SENDS,
    "datapoints_left": 0.0,
    "steps": [_FIRST_STEP, _SECOND_STEP],
}
_KEPT: dict[str, Any] = {"id": PLAN_ID, "created_at": _MADE, "updated_at": _MADE, **_PLAN}
_FIRST_PERIOD: dict[str, Any] = {
    "id": RUN_ID,
    **_ASKED,
    "aggregation": 0,
    "state": "active",
    "created_at": _MADE,
    "replaced": [],
    "sampled": [0],
    "scores": [2500.0],
    "sampler_status": "complete",
    "transfer": "send_once",
    "planning": "step",
    "status": "optimal",
    **{name: _FIRST_STEP[name] for name in _TERMS},
    "relative_gap": 0.0,
    "max_violation": 0.0,
    "horizon_bound": 0.6458573253410945,
    "horizon_gap": 0.0,
    "set_bound": 0.6458573246952372,
    "set_gap": 1.0000000654108247e-09,
    "datapoints_moved": 220.0,
    "transmit_cost": 130.0,
    "processing_cost": 609.6,
    "timing_ms": {"parse": 0.9, "sample": 0.4, "solve": 0.7, "orders": 0.3, "bound": 0.2},
    "orders": _FIRST_SENDS,
    "datapoints_left": 0.0,
    "steps": [_FIRST_STEP],
}
# Half the gradient was observed after the first period, and the next step's norm is halved once more.
_SECOND_PERIOD_STEP: dict[str, Any] = {
    **_SECOND_STEP,
    "objective": 0.1736260615691805,
    "sampling_term": 0.14072847682119205,
    "gradient_norm": 0.25,
}
# What only a period with a sampler has.
_CHOSEN = {"sampler_status", "set_bound", "set_gap"}
_SECOND_PERIOD: dict[str, Any] = {
    **{name: value for name, value in _FIRST_PERIOD.items() if name not in _CHOSEN},
    "aggregation": 1,
    "state": "finished",
    "scores": [],
    **{name: _SECOND_PERIOD_STEP[name] for name in _TERMS},
    "processing_cost": 739.2,
    "horizon_bound": 0.1736260615691805,
    "timing_ms": {"parse": 0.9, "solve": 0.7, "orders": 0.3},
    "orders": _SECOND_SENDS,
    "datapoints_left": 0.0,
    "steps": [_SECOND_PERIOD_STEP],
}
_RUN: dict[str, Any] = {
    "id": RUN_ID,
    "state": "finished",
    "created_at": _MADE,
    "updated_at": _MADE,
    **_ASKED,
    "aggregation": 1,
    "step": 2,
}
_ENTRY: dict[str, Any] = {
    "id": PLAN_ID,
    "created_at": _MADE,
    "updated_at": _MADE,
    **_ASKED,
    "status": "optimal",
    "objective": 0.6208344086869255,
}
_AGGREGATIONS: list[dict[str, Any]] = [
    {
        "aggregation": k,
        "created_at": _MADE,
        "first_step": k + 1,
        "last_step": k + 1,
        **observed,
        "sampled": [0],
        "objective": period["objective"],
        "replaced": [],
    }
    for k, period, observed in ((0, _FIRST_PERIOD, {}), (1, _SECOND_PERIOD, {"gradient_norm": 0.5}))
]
_RUN_NOW: dict[str, Any] = {
    **_RUN,
    "first_step": 2,
    "sampled": [0],
    "sampled_data": [924.0],
    "lost": [],
    "moving": {"source": [1, 2], "target": [0, 0], "datapoints": [120.0, 100.0]},
}
_EVENT = (
    "retry: 1000\n\nid: 1\nevent: plan\n"
    'data: {"aggregation":0,"created_at":"2026-03-02T09:30:00Z","first_step":1,"last_step":1,"sampled":[0],'
    '"objective":0.6458573253410945,"replaced":[]}\n\n'
)
_READY = {
    "ready": True,
    "store": "ok",
    "disk": "ok",
    "solver": "ok",
    "kernels": "ok",
    "kernels_missing": 0,
    "draining": False,
    "queue": 0,
    "validations": "no_workers",
    "workers": 0,
}

_IMPORT_REQUEST = {
    "files": [
        {"name": "devices.csv", "text": "id,datapoints\ncam-17,600\nhub-2,\n"},
        {"name": "links.csv", "text": "from,to,quality\ncam-17,hub-2,0.9\n"},
    ],
    "defaults": {"mbps": 11.0},
}
_IMPORTED = {
    "fleet": {
        "step_seconds": 60,
        "datapoint_bytes": 3136,
        "epochs_per_step": 1,
        "devices": [
            {"id": "cam-17", "datapoints": 600, "samples_per_second": 40},
            {"id": "hub-2", "datapoints": 600, "samples_per_second": 40},
        ],
        "links": [{"from": "cam-17", "to": "hub-2", "mbps": 11, "loss": 0.1}],
    },
    "report": {
        "format": "CSV",
        "devices": 2,
        "links": 1,
        "found": [{"field": "datapoints", "count": 1}, {"field": "loss", "count": 1}],
        "assumed": [
            {"field": "step_seconds", "value": "60", "count": 1},
            {"field": "datapoint_bytes", "value": "3136", "count": 1},
            {"field": "epochs_per_step", "value": "1", "count": 1},
            {"field": "samples_per_second", "value": "40", "count": 2},
            {"field": "datapoints", "value": "600", "count": 1},
            {"field": "mbps", "value": "11", "count": 1},
        ],
        "notes": [
            "loss = 1 − quality for 1 link of the file",
            "0 pairs of devices linked both ways, 1 one way only",
            "left to the service: load (2), storage_datapoints (2), airtime_seconds (2), similarity (1)",
        ],
    },
}

REQUESTS: dict[str, Any] = {
    "createPlan": PLAN_REQUEST,
    "importFleet": _IMPORT_REQUEST,
    "createRun": {**PLAN_REQUEST, "gradient": {"norm": 1.0}},
    "aggregate": {"aggregation": 1, "gradient_norm": 0.5},
    **COMPARISON_REQUESTS,
    **NETWORK_REQUESTS,
    **VALIDATION_REQUESTS,
    **WEBHOOK_REQUESTS,
}
RESPONSES: dict[str, dict[str, Any]] = {
    "importFleet": {"200": _IMPORTED},
    "createPlan": {"200": _PLAN, "201": _KEPT},
    "getPlan": {"200": _KEPT},
    "getPlanOrders": {"200": {"orders": _ALL_SENDS[1:]}},
    "listPlans": {"200": {"plans": [_ENTRY]}},
    "createRun": {"201": _FIRST_PERIOD},
    "createBinaryRun": {"201": _FIRST_PERIOD},
    "aggregate": {"200": _SECOND_PERIOD},
    "getAggregation": {"200": _SECOND_PERIOD},
    "getRun": {"200": _RUN_NOW},
    "followRun": {"200": _EVENT},
    "getAggregationOrders": {"200": {"orders": _SECOND_SENDS[1:]}},
    "listAggregations": {"200": {"aggregations": _AGGREGATIONS}},
    "listRuns": {"200": {"runs": [_RUN]}},
    "listSamplers": {
        "200": {
            "default": "greedy",
            "samplers": [{"name": "random", "description": "Draw devices uniformly without replacement."}],
        }
    },
    "listDataSets": {
        "200": {
            "workers": 1,
            "data_sets": [
                {"name": "digits", "available": True, "workers": 1},
                {"name": "mnist", "available": False, "workers": 0, "reason": absence("mnist", 1)},
            ],
        }
    },
    "getHealth": {"200": {"status": "ok", "version": version("fedsift")}},
    "getReadiness": {"200": _READY, "503": {**_READY, "ready": False, "solver": "loading"}},
    "getMetrics": {"200": "# TYPE fedsift_queue_depth gauge\nfedsift_queue_depth 0.0\n"},
    **COMPARISON_RESPONSES,
    **NETWORK_RESPONSES,
    **VALIDATION_RESPONSES,
    **WEBHOOK_RESPONSES,
}
_PARAMETERS: dict[str, Any] = {
    "plan_id": PLAN_ID,
    "run_id": RUN_ID,
    "aggregation": 1,
    "validation_id": VALIDATION_ID,
    "network_id": NETWORK_ID,
    "webhook_id": WEBHOOK_ID,
    "device": 2,
}
# The document cannot hold an archive, so this program shows how to make one. A test runs it.
ARCHIVE_SAMPLE = """\
import io, json, urllib.request
import numpy as np

parameters = json.dumps({"sample_size": 1, "horizon": 2}).encode()
columns = {
    "data": [600.0, 580], "processing_capacity": [2000.0, 900], "processing_cost": [0.8, 1.0],
    "receive_capacity": [200.0, 100], "transmit_budget": [80.0, 60],
    "source": [1], "target": [0], "similarity": [0.4], "transmit_cost": [0.5],
}
body = io.BytesIO()
np.savez(body, parameters=np.frombuffer(parameters, np.uint8), **{k: np.array(v) for k, v in columns.items()})
request = urllib.request.Request(
    f"{url}/v1/plans/binary", body.getvalue(), {"Content-Type": "application/vnd.fedsift.npz"}
)
with urllib.request.urlopen(request) as answer:
    plan = np.load(io.BytesIO(answer.read()))
print(plan["sampled"], plan["fraction"])
"""
RUN_ARCHIVE_SAMPLE = (
    ARCHIVE_SAMPLE.replace("/v1/plans/", "/v1/runs/").partition("with ")[0]
    + """\
with urllib.request.urlopen(request) as answer:
    print(answer.headers["Location"], json.load(answer)["sampled"])
"""
)
_SAMPLES = {
    "createBinaryPlan": ARCHIVE_SAMPLE,
    "createBinaryNetwork": NETWORK_ARCHIVE_SAMPLE,
    "createBinaryRun": RUN_ARCHIVE_SAMPLE,
}


def add_examples(built: dict[str, Any]) -> None:
    """Put the examples where tools look for them: beside the schemas of bodies and at the parameters."""
    for path in built["paths"].values():
        for operation in path.values():
            name = operation["operationId"]
            if name in REQUESTS:
                operation["requestBody"]["content"]["application/json"]["example"] = REQUESTS[name]
            for status, example in RESPONSES.get(name, {}).items():
                (content,) = operation["responses"][status]["content"].values()
                content["example"] = example
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in _PARAMETERS:
                    parameter["example"] = _PARAMETERS[parameter["name"]]
            if name in _SAMPLES:
                operation["x-codeSamples"] = [{"lang": "Python", "source": _SAMPLES[name]}]
