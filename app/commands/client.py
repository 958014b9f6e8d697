"""A small client of the service for the command line: JSON calls, and an event stream that reconnects."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from solver.errors import FedsiftError, InvalidInputError

__all__ = ["Client", "Event", "ServiceRefusal"]

_TIMEOUT = 60.0
# Seconds that a service which is being followed may fail to answer.
_PATIENCE = 120.0


class ServiceRefusal(FedsiftError):  # noqa: N818 - not an error of this program
    """The service answered with a problem."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('title', 'refused')}: {problem.get('detail', '')}")
        self.problem = problem


@dataclass(frozen=True)
class Event:
    """A server-sent event."""

    number: int
    kind: str
    body: dict[str, Any]


class Client:
    """Calls one service."""

    def __init__(self, url: str, key: str | None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInputError("--url", "must begin with http:// or https://")
        self._url = url.rstrip("/")
        self._headers = {"X-API-Key": key} if key else {}

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> dict[str, Any]:
        """The JSON answer.

        Raises:
            ServiceRefusal: the service answered with a problem.
            OSError: there was no answer.
        """
        request = self._request(method, path, body, headers)
        try:
            with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 - http or https, see above
                found: dict[str, Any] = json.load(answer)
                return found
        except json.JSONDecodeError as error:
            raise OSError("the answer is not JSON; is this the address of fedsift?") from error
        except HTTPError as error:
            raise _refusal(error) from error
        except URLError as error:
            reason = getattr(error.reason, "strerror", None) or error.reason
            raise OSError(f"{self._url} does not answer: {reason} (--url or FEDSIFT_URL names the service)") from error

    def get_patiently(self, path: str) -> dict[str, Any]:
        """The JSON answer; repeats the call while the service does not answer."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.call("GET", path)
            except ServiceRefusal as refusal:
                if refusal.problem.get("status", 0) < 500 or time.monotonic() > deadline:
                    raise
            except (OSError, HTTPException):
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)

    def events(self, path: str) -> Iterator[Event]:
        """All events, each once; after a broken connection it goes on after the last one seen."""
        last = 0
        gone_since: float | None = None
        while gone_since is None or time.monotonic() - gone_since < _PATIENCE:
            request = self._request("GET", path, None, {"Last-Event-ID": str(last)})
            try:
                with urlopen(request, timeout=_TIMEOUT) as lines:  # noqa: S310 - http or https, see above
                    gone_since = None
                    if lines.status == HTTPStatus.NO_CONTENT:
                        return
                    for event in _parsed(lines):
                        last = event.number
                        yield event
            except HTTPError as error:
                if error.code < HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise _refusal(error) from error
            except (OSError, HTTPException):
                pass
            gone_since = gone_since or time.monotonic()
            time.sleep(0.5)
        raise OSError("the service does not answer any more")

    def _request(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Request:
        kind = {"Content-Type": "application/json"} if body is not None else {}
        return Request(  # noqa: S310 - http or https, see above
            self._url + path, data=body, method=method, headers={**self._headers, **kind, **headers}
        )


def _parsed(lines: Any) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for raw in lines:
        line = raw.decode().rstrip("\n")
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}
        else:
            fields = {}


def _refusal(error: HTTPError) -> ServiceRefusal:
    try:
        return ServiceRefusal(json.load(error))
    except ValueError:
        return ServiceRefusal({"title": f"HTTP {error.code}", "status": error.code, "detail": error.reason})
