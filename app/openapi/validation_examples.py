"""Examples of the validations' operations for the OpenAPI document."""

from typing import Any

__all__ = ["VALIDATION_ID", "VALIDATION_REQUESTS", "VALIDATION_RESPONSES"]

VALIDATION_ID = "val_0c5f2a7d9e314b68a1f0e3d2c4b5a697"
_SOURCE = {"kind": "generator", "devices": 8, "mean_datapoints": 20.0, "link_probability": 0.5}
_CREATED = {
    "id": VALIDATION_ID,
    "created_at": "2026-03-02T09:30:00Z",
    "updated_at": "2026-03-02T09:30:04Z",
    "source": {**_SOURCE, "topology": "erdos-renyi", "budget": "loose"},
    "seeds": [0],
    "draws": 5,
    "learning_rate": 0.01,
    "batch_size": 10,
    "labels_per_device": 3,
    "tolerance": 0.1,
}
_ASKED = {
    "data_set": "digits",
    "sample_size": 2,
    "aggregations": 2,
    "aggregation_period": 5,
    "target": 0.85,
}
_NO_CURVE: dict[str, Any] = {"mean": [], "deviation": [], "runs": []}
_QUEUED: dict[str, Any] = {
    **_CREATED,
    "state": "queued",
    "progress": 0.0,
    "parts": 1,
    "parts_done": 0,
    **_ASKED,
    "schemes": [
        {
            "scheme": "heuristic-offload",
            "runs": 0,
            "runs_planned": 1,
            "diverged": 0,
            "accuracy": _NO_CURVE,
            "loss": _NO_CURVE,
            "gradient_norm": _NO_CURVE,
            "reached": 0.0,
            "processed": 0.0,
            "moved": 0.0,
            "useful": 0.0,
            "cost": 0.0,
            "worst_relative_gap": 0.0,
            "verdict": {"outcome": "pending", "predicted_useful": 0.0, "useful": 0.0, "allowed": 0.1},
        }
    ],
}
_ENDED = {"started_at": "2026-03-02T09:30:01Z", "finished_at": "2026-03-02T09:30:04Z"}
_SUCCEEDED: dict[str, Any] = {
    **_QUEUED,
    **_ENDED,
    "state": "succeeded",
    "progress": 1.0,
    "parts_done": 1,
    "schemes": [
        {
            **_QUEUED["schemes"][0],
            "runs": 1,
            "accuracy": {"mean": [0.12, 0.31, 0.48], "deviation": [0.0, 0.0, 0.0], "runs": [1, 1, 1]},
            "loss": {"mean": [2.3, 2.09, 1.86], "deviation": [0.0, 0.0, 0.0], "runs": [1, 1, 1]},
            "gradient_norm": {"mean": [0.84, 0.71, 0.62], "deviation": [0.0, 0.0, 0.0], "runs": [1, 1, 1]},
            "processed": 770.0,
            "moved": 122.0,
            "useful": 65.0,
            "cost": 856.7,
            "verdict": {
                "outcome": "as_predicted",
                "predicted_useful": 66.3,
                "useful": 65.0,
                "relative_error": -0.02,
                "allowed": 0.1,
            },
        }
    ],
}
_EVENT = 'retry: 1000\n\nid: 1\nevent: state\ndata: {"state": "queued"}\n\n'

VALIDATION_REQUESTS: dict[str, Any] = {
    "createValidation": {
        "source": {"kind": "generator", "devices": 8, "mean_datapoints": 20, "link_probability": 0.5},
        "schemes": ["heuristic-offload"],
        "sample_size": 2,
        "aggregations": 2,
    }
}
VALIDATION_RESPONSES: dict[str, dict[str, Any]] = {
    "createValidation": {"202": _QUEUED},
    "getValidation": {"200": _SUCCEEDED},
    "cancelValidation": {"200": {**_QUEUED, "state": "cancelled"}},
    "listValidations": {"200": {"validations": [{**_CREATED, **_ENDED, "state": "succeeded", "progress": 1.0}]}},
    "followValidation": {"200": _EVENT},
}
