"""Examples of the operations on webhooks."""

from typing import Any

__all__ = ["WEBHOOK_ID", "WEBHOOK_REQUESTS", "WEBHOOK_RESPONSES"]

WEBHOOK_ID = "whk_3f2a9c41d07be865"
_MADE = "2026-03-02T09:30:00Z"
_WEBHOOK = {"id": WEBHOOK_ID, "url": "https://hooks.example/fedsift", "created_at": _MADE}
_DELIVERY = {
    "id": "evt_91c4f1a2b3d84e5f96071828394a5b6c",
    "event": "run.aggregated",
    "resource": "run_6d1f0c9e5b7a4a3f8e2d1c0b9a887766",
    "state": "delivered",
    "attempts": 2,
    "answer": "200",
    "created_at": _MADE,
}

WEBHOOK_REQUESTS: dict[str, Any] = {"createWebhook": {"url": "https://hooks.example/fedsift"}}
WEBHOOK_RESPONSES: dict[str, dict[str, Any]] = {
    "createWebhook": {"201": {**_WEBHOOK, "secret": "whs_shown-once-and-used-to-sign-what-is-sent"}},
    "listWebhooks": {"200": {"webhooks": [_WEBHOOK]}},
    "getWebhook": {"200": _WEBHOOK},
    "listDeliveries": {"200": {"deliveries": [_DELIVERY]}},
}
