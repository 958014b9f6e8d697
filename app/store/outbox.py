"""Changes of plans, runs and validations: told to webhooks and in the log.

For webhooks they are written in the transaction of what they tell: neither is there without the other. The log has them
once the transaction is committed.
"""

import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from app.store.database import Transaction

__all__ = ["announce", "logged_after"]

_log = logging.getLogger("fedsift.changes")
_pending: ContextVar[list[tuple[str, dict[str, Any]]] | None] = ContextVar("pending_changes", default=None)


@contextmanager
def logged_after() -> Iterator[None]:
    """Log what is announced in this block when the block has ended, unless by an exception."""
    changes: list[tuple[str, dict[str, Any]]] = []
    token = _pending.set(changes)
    try:
        yield
    finally:
        _pending.reset(token)
    for event, fields in changes:
        _log.info(event, extra={"fields": fields})


def announce(
    t: Transaction, owner: str, event: str, resource: str, data: dict[str, Any], *, request_id: str = ""
) -> None:
    """Note an event for each webhook of the owner, after the statement that locks the resource's own rows.

    So numbers of one resource are taken in the order of commits. The log names the current request, if there is one, or
    the one that is given.
    """
    pending = _pending.get()
    if pending is not None:
        named = {"request_id": request_id} if request_id else {}
        pending.append((event, {event.partition(".")[0]: resource, "owner": owner, **named, **data}))
    event_id = f"evt_{secrets.token_hex(16)}"
    body = {"id": event_id, "event": event, "resource": resource, "created_at": t.now, "data": data}
    t.change(
        "INSERT INTO webhook_deliveries "
        "(webhook_id, id, resource, number, body, created_at, attempts, next_at, answer) "
        "SELECT w.id, ?, ?, COALESCE((SELECT MAX(d.number) FROM webhook_deliveries d WHERE d.webhook_id = w.id "
        "AND d.resource = ?), 0) + 1, ?, ?, 0, 0, '' FROM webhooks w WHERE w.owner = ?",
        event_id,
        resource,
        resource,
        json.dumps(body),
        t.now,
        owner,
    )
