"""Validations over HTTP, until they end."""

from typing import Any

import httpx

from tests.support.waiting import until

__all__ = ["wait"]


def wait(client: httpx.Client, place: str) -> dict[str, Any]:
    """The validation once it has ended."""
    shown: dict[str, Any] = {}

    def has_ended() -> bool:
        shown.update(client.get(place).json())
        return shown["state"] in {"succeeded", "failed", "cancelled"}

    until(has_ended, lambda: shown)
    found: dict[str, Any] = client.get(place).json()
    return found
