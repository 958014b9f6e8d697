"""Webhooks: who is told what happens, and how a receiver knows that it was fedsift that told it."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedsift_client.errors import ProtocolError, SignatureError

__all__ = ["Delivery", "Notice", "Webhook", "read_notice"]

# A message that is older was perhaps recorded, and is sent again by somebody else.
_MOST_SECONDS = 300.0


@dataclass(frozen=True)
class Webhook:
    """A program that is told what happens.

    Attributes:
        id: of the webhook.
        url: where events are sent.
        created_at: as the service writes it, in UTC.
        secret: signs the events. Only the answer that makes a webhook has it: keep it.
    """

    id: str
    url: str
    created_at: str
    secret: str | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Webhook":
        """A webhook as the service tells it."""
        try:
            return cls(str(told["id"]), str(told["url"]), str(told["created_at"]), told.get("secret"))
        except KeyError as error:
            raise ProtocolError("the answer is not a webhook") from error


@dataclass(frozen=True)
class Delivery:
    """An event for a webhook, and how far it is.

    Attributes:
        id: of the event; the receiver gets it as `Notice.id`.
        event: as `run.aggregated`.
        resource: the id of the plan, run or validation.
        state: `waiting` or `delivered`.
        attempts: so far.
        answer: what the last attempt ended in.
        created_at: as the service writes it, in UTC.
    """

    id: str
    event: str
    resource: str
    state: str
    attempts: int
    answer: str
    created_at: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Delivery":
        """A delivery as the service tells it."""
        try:
            return cls(**{name: told[name] for name in cls.__dataclass_fields__})
        except KeyError as error:
            raise ProtocolError("the answer is not a delivery") from error


@dataclass(frozen=True)
class Notice:
    """What a receiver was told.

    Attributes:
        id: the same if the event comes a second time.
        event: as `run.aggregated`.
        resource: the id of the plan, run or validation.
        data: what the event has to say, such as `aggregation`.
        created_at: when it happened, in seconds since 1970.
    """

    id: str
    event: str
    resource: str
    data: dict[str, Any]
    created_at: float


def read_notice(
    secret: str, signature: str | None, body: bytes, *, most_seconds: float = _MOST_SECONDS, now: float | None = None
) -> Notice:
    """The event in a request that a receiver got, if fedsift has signed it.

    Args:
        secret: of the webhook.
        signature: the header `X-Fedsift-Signature`: HMAC-SHA256 over the time, a dot and the body.
        body: as it arrived, byte for byte.
        most_seconds: how old the signature may be.
        now: seconds since 1970; None asks the clock.

    Raises:
        SignatureError: it is missing, of another body or secret, or too old. Answer 401.
    """
    try:
        parts = dict(part.split("=", 1) for part in (signature or "").split(","))
        moment, signed = int(parts["t"]), parts["v1"].encode()
    except (KeyError, ValueError) as error:
        raise SignatureError("there is no signature of fedsift's") from error
    expected = hmac.new(secret.encode(), f"{parts['t']}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), signed):
        raise SignatureError("the signature is of another body or secret")
    if abs((time.time() if now is None else now) - moment) > most_seconds:
        raise SignatureError("the signature is too old, or of the future: is the clock right?")
    try:
        told = json.loads(body)
        return Notice(**{name: told[name] for name in Notice.__dataclass_fields__})
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError("the body is not one of fedsift's events") from error
