"""Calls with retries, written once for both clients.

An operation is a generator. It yields what is to be done (send a call, wait) and gets the outcome back, or the
transport's error thrown in. `wires.py` carries operations out, with threads that block or with asyncio.
"""

import random
import time
from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from fedsift_client.errors import InputError, ProblemError, ProtocolError, UnreachableError, problem_error
from fedsift_client.http.calls import Call, Reply

__all__ = [
    "RETRIED",
    "TRANSIENT",
    "Effect",
    "Open",
    "Operation",
    "Patience",
    "ReadLine",
    "Send",
    "Wait",
    "exchange",
    "refusal",
    "retry_after",
]

T = TypeVar("T")

# The connection failed, or nothing came in time: the same call may succeed a moment later.
TRANSIENT = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError)
# Too many requests, and what a service or the proxy before it answers while it restarts.
RETRIED = {429, 502, 503, 504}


@dataclass(frozen=True)
class Send:
    """Send this call; the outcome is a Reply."""

    call: Call


@dataclass(frozen=True)
class Open:
    """Send this call and leave the answer open, to be read line by line; the outcome is a Reply without a body."""

    call: Call


@dataclass(frozen=True)
class ReadLine:
    """Read the next line of the open answer; the outcome is a str, or None at its end."""


@dataclass(frozen=True)
class Wait:
    """Wait for so many seconds."""

    seconds: float


Effect = Send | Open | ReadLine | Wait
Operation = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Patience:
    """How long to try again.

    Attributes:
        seconds: after so many seconds no further attempt is made.
        first_wait: before the second attempt, in seconds; it doubles from attempt to attempt.
        longest_wait: the most that it doubles to. `Retry-After` of an answer counts instead, whatever it is.
    """

    seconds: float = 60.0
    first_wait: float = 0.25
    longest_wait: float = 8.0

    def __post_init__(self) -> None:
        if not (self.seconds >= 0 and self.first_wait > 0 and self.longest_wait >= self.first_wait):
            raise InputError("patience must not be negative, and waits must be positive")

    def wait(self, attempt: int) -> float:
        """Seconds before the next attempt, by chance: clients that failed together do not come back together."""
        most = min(self.first_wait * 2.0 ** min(attempt, 30), self.longest_wait)
        return most * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret


def exchange(call: Call, patience: Patience) -> Operation[Reply]:
    """Send a call until it is answered, and return the answer.

    Raises:
        ProblemError: the service refused.
        UnreachableError: it did not answer within the time.
    """
    deadline = time.monotonic() + patience.seconds
    attempt = 0
    while True:
        failure: ProblemError | UnreachableError
        asked: float | None = None
        try:
            reply: Reply = yield Send(call)
        except TRANSIENT as error:
            failure = UnreachableError(f"fedsift does not answer: {str(error) or type(error).__name__}")
            failure.__cause__ = error
        else:
            # A delete whose answer was lost has deleted.
            if reply.status < 400 or (call.method == "DELETE" and reply.status == 404 and attempt):
                return reply
            failure = refusal(reply)
            if reply.status not in RETRIED:
                raise failure
            asked = retry_after(reply)
        wait = patience.wait(attempt) if asked is None else asked
        if time.monotonic() + wait > deadline:
            raise failure
        yield Wait(wait)
        attempt += 1


def refusal(reply: Reply) -> ProblemError:
    """The problem that was answered; proxies answer without a document."""
    try:
        problem = reply.json()
    except ProtocolError:
        problem = {"detail": reply.body[:200].decode("utf-8", "replace")}
    return problem_error(reply.status, problem)


def retry_after(reply: Reply) -> float | None:
    """Seconds that the answer asks to wait: a number, or a date."""
    text = reply.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max((moment - datetime.now(timezone.utc)).total_seconds(), 0.0)
