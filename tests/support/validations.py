"""Validations over HTTP, until they end."""

import time
from typing import Any

import httpx

__all__ = ["wait"]


def wait(client: httpx.Client, place: str) -> dict[str, Any]:
    """The validation once it has ended."""
    for _ in range(3000):
        found: dict[str, Any] = client.get(place).json()
        if found["state"] in {"succeeded", "failed", "cancelled"}:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not ended: {found}")
