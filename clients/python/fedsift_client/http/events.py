"""Server-sent events: their text, and a stream that goes on where it broke off."""

import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from fedsift_client.errors import FedsiftError, ProtocolError, UnreachableError
from fedsift_client.http.calls import Reply, get
from fedsift_client.http.exchange import (
    RETRIED,
    TRANSIENT,
    Effect,
    Open,
    Patience,
    ReadLine,
    Wait,
    refusal,
    retry_after,
)

__all__ = ["ENDED", "Event", "events"]

# States that a validation does not leave any more.
ENDED = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True)
class Event:
    """Something that happened, with its number and its content: `state` or `round` of a validation, `plan` of a run."""

    number: int
    kind: str
    body: dict[str, Any]

    @property
    def is_last(self) -> bool:
        """Whether the validation has ended with it."""
        return self.kind == "state" and self.body.get("state") in ENDED


def events(path: str, patience: Patience, after: int = 0) -> Generator[Effect | Event, Any, None]:
    """All events after that number, each once, until the validation or run has ended.

    Raises:
        ProblemError: the service refused.
        UnreachableError: no event and no sign of life within the time.
    """
    deadline = time.monotonic() + patience.seconds
    attempt = 0
    while True:
        failure: FedsiftError = UnreachableError("fedsift does not answer any more")
        wait = patience.wait(attempt)
        try:
            reply: Reply = yield Open(get(path).with_header("Last-Event-ID", str(after)))
            if reply.status == 204:
                return
            if reply.status >= 400:
                failure, wait = refusal(reply), retry_after(reply) or wait
                if reply.status not in RETRIED:
                    raise failure
            fields: dict[str, str] = {}
            while reply.status < 400 and (line := (yield ReadLine())) is not None:
                deadline, attempt = time.monotonic() + patience.seconds, 0
                event = _taken(fields, line)
                if event is not None:
                    after = event.number
                    yield event
                    if event.is_last:
                        return
        except TRANSIENT as error:
            failure.__cause__ = error
        if time.monotonic() + wait > deadline:
            raise failure
        yield Wait(wait)
        attempt += 1


def _taken(fields: dict[str, str], line: str) -> Event | None:
    """Take a line into the fields of the event under way; a blank line ends it."""
    if line:
        name, _, value = line.partition(":")
        fields[name] = value.removeprefix(" ")
        return None
    found = dict(fields)
    fields.clear()
    if "data" not in found:
        return None
    try:
        return Event(int(found["id"]), found["event"], json.loads(found["data"]))
    except (KeyError, ValueError) as error:
        raise ProtocolError("this is not one of fedsift's events") from error
