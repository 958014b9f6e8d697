"""What can go wrong.

FedsiftError
├── InputError             what was given cannot be sent
├── MissingPackageError    an optional package is needed
├── UnreachableError       the service did not answer in time
├── ProtocolError          it answered something that is not fedsift's
├── SignatureError         a webhook's receiver was told something that fedsift has not signed
└── ProblemError           it refused, with a problem document (RFC 9457)
    ├── UnauthorisedError 401
    ├── NotFoundError 404
    ├── ConflictError 409
    ├── TooLargeError 413
    ├── InvalidRequestError 422   `faults` has the places
    ├── BusyError 429, 503        still busy after all attempts
    └── NoRoomError 507
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BusyError",
    "ConflictError",
    "Fault",
    "FedsiftError",
    "InputError",
    "InvalidRequestError",
    "MissingPackageError",
    "NoRoomError",
    "NotFoundError",
    "ProblemError",
    "ProtocolError",
    "SignatureError",
    "TooLargeError",
    "UnauthorisedError",
    "UnreachableError",
    "problem_error",
]


class FedsiftError(Exception):
    """The root of all errors of this package."""


class InputError(FedsiftError, ValueError):
    """What was given cannot be sent."""


class MissingPackageError(FedsiftError, ImportError):
    """An optional package is needed; the message says how to install it."""


class UnreachableError(FedsiftError, ConnectionError):
    """The service did not answer in time; the last failure is the cause."""


class ProtocolError(FedsiftError):
    """The answer is not fedsift's. Is this the right address?"""


class SignatureError(FedsiftError):
    """What a receiver of webhooks got is not signed with the webhook's secret, or was signed too long ago."""


@dataclass(frozen=True)
class Fault:
    """One broken rule and its place.

    Attributes:
        detail: the rule.
        pointer: a JSON pointer (RFC 6901) into the body that was sent.
        parameter: the query parameter instead.
        header: the header instead.
    """

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return self.parameter or self.header or self.pointer or "/"


class ProblemError(FedsiftError):
    """The service refused.

    Attributes:
        status: the HTTP status.
        type: the stable type, as `urn:fedsift:problem:invalid`.
        title: what kind of problem it is, for people.
        detail: what is wrong, for people.
        request_id: what the service's logs have.
        faults: the broken rules with their places.
        problem: the whole document.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.type = str(problem.get("type", "about:blank"))
        self.title = str(problem.get("title", f"HTTP {status}"))
        self.detail = str(problem.get("detail", ""))
        self.request_id = str(problem.get("request_id", ""))
        self.faults = tuple(_fault(item) for item in problem.get("errors", ()))
        lines = [f"{self.title}: {self.detail}", *(f"  {fault.place}: {fault.detail}" for fault in self.faults)]
        super().__init__("\n".join(lines))


class UnauthorisedError(ProblemError):
    """401: no known API key."""


class NotFoundError(ProblemError):
    """404: there is nothing of this id, or it belongs to another key."""


class ConflictError(ProblemError):
    """409: an aggregation out of order, or another body for what was answered."""


class TooLargeError(ProblemError):
    """413: more bytes or memory than the service gives a request."""


class InvalidRequestError(ProblemError):
    """422: a rule is broken, or too few devices can be sampled."""


class BusyError(ProblemError):
    """429 or 503, at every attempt."""


class NoRoomError(ProblemError):
    """507: the quota is used up, or the disk is full."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    401: UnauthorisedError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidRequestError,
    429: BusyError,
    503: BusyError,
    507: NoRoomError,
}


def problem_error(status: int, problem: Mapping[str, Any]) -> ProblemError:
    """The error for a status and its problem document."""
    return _BY_STATUS.get(status, ProblemError)(status, problem)


def _fault(item: Mapping[str, Any]) -> Fault:
    return Fault(str(item.get("detail", "")), item.get("pointer"), item.get("parameter"), item.get("header"))
