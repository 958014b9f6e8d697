"""What is known of everything that is kept, whatever it is: its name, labels, what was asked for, its idempotency key.

KeyTakenError       another request with the same idempotency key was first
"""

import json
from dataclasses import dataclass, field
from typing import Any

from app.store.database import ReadTransaction, Transaction
from app.store.usage import Thing
from solver.errors import FedsiftError

__all__ = ["ABOUT", "About", "KeyTakenError", "Made", "joined", "made_by", "read_about", "tell"]

# The columns that `read_about` reads.
ABOUT = "a.name, a.labels, a.asked"


class KeyTakenError(FedsiftError):
    """Another request with the same idempotency key was first; nothing of this one may be written."""


@dataclass(frozen=True)
class About:
    """What is told of a plan, a run, a validation or a network.

    Attributes:
        key: the idempotency key of the request, if it had one.
        digest: of the request's body.
        name: the caller's own name for it.
        labels: the caller's own labels.
        asked: the short fields of the request, for answers.
    """

    key: str | None = None
    digest: str = ""
    name: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """The fields of an answer."""
        named: dict[str, Any] = {"name": self.name} if self.name else {}
        return named | ({"labels": self.labels} if self.labels else {}) | self.asked


@dataclass(frozen=True)
class Made:
    """What an idempotency key made before, and the digest of the body it was sent with."""

    id: str
    digest: str


def made_by(t: ReadTransaction, owner: str, key: str | None) -> Made | None:
    """What this owner's idempotency key made before, if it is still there."""
    if not key:
        return None
    sql = "SELECT COALESCE(plan_id, run_id, validation_id, network_id), digest FROM about WHERE owner = ? "
    sql += "AND idempotency_key = ?"
    return next((Made(*row) for row in t.rows(sql, owner, key)), None)


def tell(t: Transaction, thing: Thing, thing_id: str, owner: str, about: About) -> int:
    """Write it, in the transaction that writes the thing itself; returns the bytes of what callers chose.

    A stored network that was asked for with `network_id` stays as long as the thing; if it is gone already, the
    transaction ends in a `GoneError`.

    Raises:
        KeyTakenError: the owner's key has made something already; the transaction has to be rolled back.
    """
    labels, asked = written_labels(about.labels), json.dumps(about.asked)
    added = t.change(
        f"INSERT INTO about ({thing}_id, owner, idempotency_key, digest, name, labels, asked, uses) "  # noqa: S608
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        thing_id,
        owner,
        about.key or None,
        about.digest,
        about.name,
        labels,
        asked,
        about.asked.get("network_id"),
    )
    if not added:
        raise KeyTakenError("this idempotency key has made something already")
    return len(about.name.encode()) + len(labels.encode()) + (len(asked) if about.asked else 0)


def joined(thing: Thing, columns: str) -> str:
    """A query for these columns, and those of `ABOUT`, of a thing `x`; it ends before its conditions."""
    # No caller's word gets here: all are constants of the code.
    return f"SELECT {columns}, {ABOUT} FROM {thing}s x JOIN about a ON a.{thing}_id = x.id WHERE"  # noqa: S608


def read_about(name: str, labels: str, asked: str) -> About:
    """From the columns `ABOUT`."""
    lines = [line.partition(":") for line in labels.split("\n") if line]
    return About(name=name, labels={key: value for key, _, value in lines}, asked=json.loads(asked))


def written_labels(labels: dict[str, str]) -> str:
    """A line for each label, with a line break before and after each, so that a whole line can be searched for."""
    return "".join(f"\n{key}:{value}\n" for key, value in sorted(labels.items()))
