"""The tables of webhooks and of what is delivered to them: the queue, and the log of it.

RefusedError    the owner cannot have this webhook
"""

import json
import secrets
from dataclasses import dataclass
from typing import Literal

from app.store import Store
from app.store.database import Transaction
from app.store.usage import lock_owner
from solver.errors import FedsiftError

__all__ = ["MOST_OF_OWNER", "Delivery", "LogEntry", "RefusedError", "Webhook", "WebhookStore"]

# Each event is a row for each of them.
MOST_OF_OWNER = 16

# Found at once; those that another thread claims meanwhile are passed over.
_CANDIDATES = 16
_DELETED_AT_ONCE = 1000


class RefusedError(FedsiftError):
    """The owner cannot have this webhook."""


@dataclass(frozen=True)
class Webhook:
    """Who is told, and the secret that signs what is told."""

    id: str
    owner: str
    url: str
    secret: str
    created_at: float


@dataclass(frozen=True)
class Delivery:
    """An event that is to be delivered now; `attempt` counts from 1 and begins at `begun_at`."""

    webhook_id: str
    id: str
    body: str
    attempt: int
    url: str
    secret: str
    begun_at: float


@dataclass(frozen=True)
class LogEntry:
    """How far a delivery is: `answer` is what the last attempt ended in."""

    id: str
    event: str
    resource: str
    state: Literal["waiting", "delivered"]
    attempts: int
    answer: str
    created_at: float


class WebhookStore:
    """The tables of webhooks and deliveries."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, owner: str, url: str) -> Webhook:
        """Keep a webhook with a new secret.

        Raises:
            RefusedError: the owner has one for this URL already, or as many as it may have.
        """
        with self._store.write() as t:
            lock_owner(t, owner)
            had = [one for (one,) in t.rows("SELECT url FROM webhooks WHERE owner = ?", owner)]
            if url in had:
                told = "there is a webhook for this URL already; its secret is not shown again: delete it first"
                raise RefusedError(told)
            if len(had) >= MOST_OF_OWNER:
                raise RefusedError(f"there are {MOST_OF_OWNER} webhooks already: delete one first")
            made = Webhook(f"whk_{secrets.token_hex(8)}", owner, url, f"whs_{secrets.token_urlsafe(32)}", t.now)
            sql = "INSERT INTO webhooks (id, owner, url, secret, created_at) VALUES (?, ?, ?, ?, ?)"
            t.change(sql, made.id, made.owner, made.url, made.secret, made.created_at)
        return made

    def all(self, owner: str | None = None) -> list[Webhook]:
        """All webhooks, or those of an owner, oldest first."""
        with self._store.read() as t:
            sql = "SELECT id, owner, url, secret, created_at FROM webhooks WHERE owner = COALESCE(?, owner) "
            return [Webhook(*row) for row in t.rows(f"{sql} ORDER BY created_at, id", owner)]

    def delete(self, webhook_id: str) -> bool:
        """Forget a webhook with all that is to be delivered to it; whether there was one."""
        with self._store.write() as t:
            return bool(t.change("DELETE FROM webhooks WHERE id = ?", webhook_id))

    def claim(self, lease: float) -> Delivery | None:
        """The next delivery that is due, for this caller alone during `lease` seconds; None if none is.

        Of one resource only the first that is not delivered is due, so they are delivered in order.
        """
        with self._store.read() as t:
            due = t.rows(
                "SELECT d.webhook_id, d.id, d.body, d.attempts, w.url, w.secret FROM webhook_deliveries d "
                "JOIN webhooks w ON w.id = d.webhook_id "
                "WHERE d.delivered_at IS NULL AND d.next_at <= ? AND NOT EXISTS ("
                "SELECT 1 FROM webhook_deliveries e WHERE e.webhook_id = d.webhook_id AND e.resource = d.resource "
                "AND e.delivered_at IS NULL AND e.number < d.number) ORDER BY d.next_at, d.created_at LIMIT ?",
                t.now,
                _CANDIDATES,
            )
        for webhook_id, event_id, body, attempts, url, secret in due:
            with self._store.write() as t:
                claimed = t.change(
                    "UPDATE webhook_deliveries SET attempts = attempts + 1, next_at = ? "
                    "WHERE webhook_id = ? AND id = ? AND attempts = ? AND delivered_at IS NULL",
                    t.now + lease,
                    webhook_id,
                    event_id,
                    attempts,
                )
                if claimed:
                    return Delivery(webhook_id, event_id, body, attempts + 1, url, secret, t.now)
        return None

    def delivered(self, delivery: Delivery, answer: str) -> None:
        """Note that it has arrived."""
        sql = "UPDATE webhook_deliveries SET delivered_at = ?, answer = ? WHERE webhook_id = ? AND id = ?"
        with self._store.write() as t:
            t.change(sql, t.now, answer, delivery.webhook_id, delivery.id)

    def failed(self, delivery: Delivery, answer: str, wait: float) -> None:
        """Let the next attempt begin in so many seconds, unless another one has begun since."""
        sql = "UPDATE webhook_deliveries SET next_at = ?, answer = ? WHERE webhook_id = ? AND id = ? AND attempts = ?"
        with self._store.write() as t:
            t.change(sql, t.now + wait, answer, delivery.webhook_id, delivery.id, delivery.attempt)

    def log(self, webhook_id: str, limit: int) -> list[LogEntry]:
        """The newest deliveries of a webhook, newest first."""
        with self._store.read() as t:
            rows = t.rows(
                "SELECT id, body, resource, CASE WHEN delivered_at IS NULL THEN 'waiting' ELSE 'delivered' END, "
                "attempts, answer, created_at FROM webhook_deliveries WHERE webhook_id = ? "
                "ORDER BY created_at DESC, number DESC LIMIT ?",
                webhook_id,
                limit,
            )
        return [LogEntry(event_id, json.loads(body)["event"], *rest) for event_id, body, *rest in rows]

    def delete_old(self, days: float) -> int:
        """Delete deliveries from so many days ago, whether they arrived or not; returns how many."""

        def work(t: Transaction) -> int:
            return t.change(
                "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries "
                "WHERE created_at < ? ORDER BY created_at LIMIT ?)",
                t.now - 86400 * days,
                _DELETED_AT_ONCE,
            )

        return self._store.delete(work)
