"""What is to be told to webhooks, written in the transaction of what it tells: neither is there without the other."""

import json
import secrets
import time
from typing import Any

from app.store.database import Transaction

__all__ = ["announce"]


def announce(t: Transaction, owner: str, event: str, resource: str, data: dict[str, Any]) -> None:
    """Note an event for each webhook of the owner, after the statement that locks the resource's own rows.

    So numbers of one resource are taken in the order of commits.
    """
    now = time.time()
    event_id = f"evt_{secrets.token_hex(16)}"
    body = {"id": event_id, "event": event, "resource": resource, "created_at": now, "data": data}
    t.change(
        "INSERT INTO webhook_deliveries "
        "(webhook_id, id, resource, number, body, created_at, attempts, next_at, answer) "
        "SELECT w.id, ?, ?, COALESCE((SELECT MAX(d.number) FROM webhook_deliveries d WHERE d.webhook_id = w.id "
        "AND d.resource = ?), 0) + 1, ?, ?, 0, 0, '' FROM webhooks w WHERE w.owner = ?",
        event_id,
        resource,
        resource,
        json.dumps(body),
        now,
        owner,
    )
