"""Every way a request can fail, as RFC 9457 problems.

ServiceError (a FedsiftError)
├── MalformedError 400          not JSON, not gzip, cut short
├── UnauthorisedError 401
├── ForbiddenError 403          a key that may only read, a header that is the gateway's
├── NotFoundError 404
├── SlowBodyError 408
├── SlowHeadError 408
├── ConflictError 409           an aggregation out of order, or another body for what was answered
├── TooLargeError 413           before or after decompression
├── UnsupportedTypeError 415
├── MisdirectedError 421        a host that is not ours
├── InvalidRequestError 422     a rule is broken; says where
├── InfeasibleError 422         too few devices can be sampled; says which and why
├── TooManyRequestsError 429    for this key
├── HeadTooLargeError 431
├── OverloadedError 503         for everyone, or shutting down
├── StoreUnavailableError 503
├── QuotaExceededError 507      this key keeps as many bytes as it may
└── DiskLowError 507            the store's disk is almost full
"""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import ClassVar

from app.wire.problem import DeviceReason, ErrorItem, Problem
from solver import FedsiftError, Obstacle

__all__ = [
    "ERROR_LIMIT",
    "PROBLEM_JSON",
    "ConflictError",
    "DiskLowError",
    "ForbiddenError",
    "HeadTooLargeError",
    "InfeasibleError",
    "InvalidRequestError",
    "MalformedError",
    "MisdirectedError",
    "NotFoundError",
    "OverloadedError",
    "QuotaExceededError",
    "ServiceError",
    "SlowBodyError",
    "SlowHeadError",
    "StoreUnavailableError",
    "TooLargeError",
    "TooManyRequestsError",
    "UnauthorisedError",
    "UnsupportedTypeError",
    "problem_type",
]

PROBLEM_JSON = "application/problem+json"
# No answer lists more errors, or more devices, than this.
ERROR_LIMIT = 20


def problem_type(name: str) -> str:
    """The stable `type` of a problem."""
    return f"urn:fedsift:problem:{name}"


class ServiceError(FedsiftError):
    """A failure with its status and its problem document."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    name: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong here"

    def __init__(self, detail: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers or {}

    def problem(self) -> Problem:
        """The document to answer with."""
        return Problem(type=problem_type(self.name), title=self.title, status=self.status.value, detail=self.detail)


class MalformedError(ServiceError):
    """The body is not what its headers say."""

    status = HTTPStatus.BAD_REQUEST
    name = "malformed"
    title = "The request cannot be read"


class UnauthorisedError(ServiceError):
    """No API key was sent, or one that is unknown or has expired."""

    status = HTTPStatus.UNAUTHORIZED
    name = "unauthorised"
    title = "An API key is needed"


class ForbiddenError(ServiceError):
    """The caller is known, or pretends to be, and may not do this."""

    status = HTTPStatus.FORBIDDEN
    name = "forbidden"
    title = "This is not allowed"


class NotFoundError(ServiceError):
    """Nothing has this id, or it belongs to another caller."""

    status = HTTPStatus.NOT_FOUND
    name = "not-found"
    title = "There is nothing here"


class SlowBodyError(ServiceError):
    """The body did not arrive in time."""

    status = HTTPStatus.REQUEST_TIMEOUT
    name = "slow-body"
    title = "The request took too long to arrive"


class SlowHeadError(ServiceError):
    """The request line and the headers did not arrive in time."""

    status = HTTPStatus.REQUEST_TIMEOUT
    name = "slow-head"
    title = "The request took too long to arrive"


class ConflictError(ServiceError):
    """The run is at another aggregation than the caller assumes, or an idempotency key was used with another body."""

    status = HTTPStatus.CONFLICT
    name = "conflict"
    title = "The request does not fit what was done before"


class TooLargeError(ServiceError):
    """More bytes, or more numbers, than are accepted."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    name = "too-large"
    title = "The request is too large"


class UnsupportedTypeError(ServiceError):
    """The route does not read this content type or encoding."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    name = "unsupported-type"
    title = "The content type is not supported"


class MisdirectedError(ServiceError):
    """The request names a host that the service does not serve."""

    status = HTTPStatus.MISDIRECTED_REQUEST
    name = "misdirected"
    title = "This host is not served here"


class InvalidRequestError(ServiceError):
    """The request is well-formed but breaks a rule."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "invalid"
    title = "The request breaks a rule"

    def __init__(self, errors: Sequence[ErrorItem], *, count: int | None = None) -> None:
        found = len(errors) if count is None else count
        super().__init__("one rule is broken" if found == 1 else f"{found} rules are broken")
        self.errors = list(errors[:ERROR_LIMIT])
        self.count = found

    @classmethod
    def at(cls, pointer: str, detail: str) -> "InvalidRequestError":
        """One error at one place of the body."""
        return cls([ErrorItem(pointer=pointer, detail=detail)])

    @classmethod
    def of_parameter(cls, name: str, detail: str) -> "InvalidRequestError":
        """One error of a query parameter."""
        return cls([ErrorItem(parameter=name, detail=detail)])

    @classmethod
    def of_header(cls, name: str, detail: str) -> "InvalidRequestError":
        """One error of a header."""
        return cls([ErrorItem(header=name, detail=detail)])

    def problem(self) -> Problem:
        """With the places and the rules."""
        return super().problem().model_copy(update={"errors": self.errors})


class InfeasibleError(ServiceError):
    """No plan exists: devices cannot do what is asked of them."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "infeasible"
    title = "No plan exists"

    def __init__(
        self,
        detail: str,
        obstacles: Sequence[Obstacle],
        describe: Callable[[Obstacle], DeviceReason] = DeviceReason.of,
    ) -> None:
        super().__init__(detail)
        self.devices = [describe(one) for one in obstacles[:ERROR_LIMIT]]
        self.count = len(obstacles)

    def problem(self) -> Problem:
        """With the devices and the reasons."""
        return super().problem().model_copy(update={"devices": self.devices, "device_count": self.count})


class TooManyRequestsError(ServiceError):
    """This key has too many requests or validations under way."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    name = "too-many-requests"
    title = "Too many requests under way for this key"


class HeadTooLargeError(ServiceError):
    """The request line and the headers have more bytes than are accepted."""

    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    name = "head-too-large"
    title = "The request's head is too large"


class OverloadedError(ServiceError):
    """The queue is full, or the service is shutting down."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    name = "overloaded"
    title = "The service is full"


class StoreUnavailableError(ServiceError):
    """The database does not answer."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    name = "store-unavailable"
    title = "The store does not answer"


class QuotaExceededError(ServiceError):
    """The caller keeps as many bytes as it may."""

    status = HTTPStatus.INSUFFICIENT_STORAGE
    name = "quota-exceeded"
    title = "You keep as much as you may"

    def __init__(self, used: int, more: int, limit: int) -> None:
        detail = f"you keep {used} bytes, and {more} more would pass the limit of {limit} (FEDSIFT_KEY_BYTES); "
        super().__init__(f"{detail}delete plans, runs, validations or networks that you do not need")


class DiskLowError(ServiceError):
    """The disk of the store is almost full."""

    status = HTTPStatus.INSUFFICIENT_STORAGE
    name = "disk-low"
    title = "The disk is almost full"

    def __init__(self, reserve: int) -> None:
        free = f"fewer than {reserve} bytes are free" if reserve else "no byte is free"
        super().__init__(
            f"{free} for the store (FEDSIFT_DISK_RESERVE), so nothing new is kept; "
            "plans without `keep` are answered, and deleting works"
        )
