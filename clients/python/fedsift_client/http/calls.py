"""HTTP calls as values: what is sent, and what comes back."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fedsift_client.errors import InputError, ProtocolError

__all__ = ["NPZ", "Call", "Reply", "delete", "encoded", "get", "post", "post_archive"]

NPZ = "application/vnd.fedsift.npz"


@dataclass(frozen=True)
class Call:
    """One HTTP call. All calls of this package may be repeated: a repetition finds what the first one made."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | list[str]] = field(default_factory=dict)

    def with_header(self, name: str, value: str) -> "Call":
        """The same call with one more header."""
        return replace(self, headers={**self.headers, name: value})


@dataclass(frozen=True)
class Reply:
    """An answer; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object."""
        try:
            found = json.loads(self.body)
        except ValueError as error:
            raise ProtocolError("the answer is not JSON; is this the address of fedsift?") from error
        if not isinstance(found, dict):
            raise ProtocolError("the answer is not a JSON object; is this the address of fedsift?")
        return found


def get(path: str, **query: object) -> Call:
    """Ask for something; parameters that are None are left out, those that are lists are given several times."""
    told = {name: value for name, value in query.items() if value is not None}
    return Call("GET", path, query={name: v if isinstance(v, list) else str(v) for name, v in told.items()})


def delete(path: str) -> Call:
    """Delete something."""
    return Call("DELETE", path)


def post(
    path: str, body: Mapping[str, Any], *, creates: bool = False, key: str | None = None, method: str = "POST"
) -> Call:
    """Send a JSON body. What `creates` something gets an idempotency key: repeated, it creates nothing twice."""
    return Call(method, path, encoded(body), {"Content-Type": "application/json", **_key(creates=creates, key=key)})


def post_archive(path: str, body: bytes, *, creates: bool = False, key: str | None = None) -> Call:
    """Send an archive of arrays; as `post`."""
    return Call("POST", path, body, {"Content-Type": NPZ, **_key(creates=creates, key=key)})


def _key(*, creates: bool, key: str | None) -> dict[str, str]:
    if not creates and key is None:
        return {}
    return {"Idempotency-Key": uuid.uuid4().hex if key is None else key}


def encoded(body: Mapping[str, Any]) -> bytes:
    """An object as JSON."""
    try:
        return json.dumps(body, default=_plain, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"this is no JSON: {error}") from error


def _plain(value: object) -> object:
    """Numbers and arrays of numpy as JSON has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")
