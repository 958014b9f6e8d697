"""The id of the current request, for logs and problems."""

import re
import secrets
from contextvars import ContextVar

__all__ = ["begin_request", "continue_request", "request_id"]

_current: ContextVar[str] = ContextVar("request_id", default="")
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")


def begin_request(given: str) -> str:
    """Take the caller's id if it is a plain one, else make one."""
    chosen = given if _ACCEPTED.fullmatch(given) else secrets.token_hex(8)
    _current.set(chosen)
    return chosen


def continue_request(identity: str) -> None:
    """Work for a request that was answered before: logs name it."""
    _current.set(identity)


def request_id() -> str:
    """The current request's id, or nothing outside of one."""
    return _current.get()
