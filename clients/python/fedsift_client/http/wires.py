"""Carry operations out: with threads that block, or with asyncio."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any, TypeVar

import httpx

from fedsift_client.errors import InputError
from fedsift_client.http.calls import Call, Reply
from fedsift_client.http.events import Event
from fedsift_client.http.exchange import Effect, Open, Operation, ReadLine, Send, Wait

__all__ = ["AsyncWire", "Wire", "address", "credentials"]

T = TypeVar("T")


def address(url: str | None) -> str:
    """Where the service is: as given, else FEDSIFT_URL, else this machine."""
    found = url or os.environ.get("FEDSIFT_URL") or "http://127.0.0.1:8000"
    if not found.startswith(("http://", "https://")):
        raise InputError("the address must begin with http:// or https://")
    return found.rstrip("/")


def credentials(key: str | None) -> dict[str, str]:
    """The header with the API key: as given, else FEDSIFT_API_KEY."""
    found = key or os.environ.get("FEDSIFT_API_KEY")
    return {"X-API-Key": found} if found else {}


class Wire:
    """Does what operations ask for, one at a time, and blocks meanwhile."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def run(self, operation: Operation[T]) -> T:
        """Carry out an operation to its result."""
        outcome: Any = None
        error: Exception | None = None
        while True:
            try:
                effect = operation.send(outcome) if error is None else operation.throw(error)
            except StopIteration as stop:
                found: T = stop.value
                return found
            outcome, error = None, None
            try:
                outcome = self._do(effect)
            except httpx.TransportError as raised:
                error = raised

    def stream(self, operation: Generator[Effect | Event, Any, None]) -> Iterator[Event]:
        """The events that an operation yields between its effects."""
        outcome: Any = None
        error: Exception | None = None
        opened: httpx.Response | None = None
        lines: Iterator[str] = iter(())
        try:
            while True:
                try:
                    effect = operation.send(outcome) if error is None else operation.throw(error)
                except StopIteration:
                    return
                outcome, error = None, None
                try:
                    if isinstance(effect, Event):
                        yield effect
                    elif isinstance(effect, Open):
                        if opened is not None:
                            opened.close()
                        opened = self._http.send(_request(self._http, effect.call), stream=True)
                        lines = opened.iter_lines()
                        outcome = _reply(opened, b"" if opened.status_code < 400 else opened.read())
                    elif isinstance(effect, ReadLine):
                        outcome = next(lines, None)
                    else:
                        outcome = self._do(effect)
                except httpx.TransportError as raised:
                    error = raised
        finally:
            operation.close()
            if opened is not None:
                opened.close()

    def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            answer = self._http.send(_request(self._http, effect.call))
            return _reply(answer, answer.content)
        if isinstance(effect, Wait):
            time.sleep(effect.seconds)
            return None
        raise TypeError(f"an operation that yields {effect} is a stream")


class AsyncWire:
    """The same with asyncio."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def run(self, operation: Operation[T]) -> T:
        """Carry out an operation to its result."""
        outcome: Any = None
        error: Exception | None = None
        while True:
            try:
                effect = operation.send(outcome) if error is None else operation.throw(error)
            except StopIteration as stop:
                found: T = stop.value
                return found
            outcome, error = None, None
            try:
                outcome = await self._do(effect)
            except httpx.TransportError as raised:
                error = raised

    async def stream(self, operation: Generator[Effect | Event, Any, None]) -> AsyncIterator[Event]:
        """The events that an operation yields between its effects."""
        outcome: Any = None
        error: Exception | None = None
        opened: httpx.Response | None = None
        lines: AsyncIterator[str] | None = None
        try:
            while True:
                try:
                    effect = operation.send(outcome) if error is None else operation.throw(error)
                except StopIteration:
                    return
                outcome, error = None, None
                try:
                    if isinstance(effect, Event):
                        yield effect
                    elif isinstance(effect, Open):
                        if opened is not None:
                            await opened.aclose()
                        opened = await self._http.send(_request(self._http, effect.call), stream=True)
                        lines = opened.aiter_lines()
                        outcome = _reply(opened, b"" if opened.status_code < 400 else await opened.aread())
                    elif isinstance(effect, ReadLine):
                        outcome = None if lines is None else await _next(lines)
                    else:
                        outcome = await self._do(effect)
                except httpx.TransportError as raised:
                    error = raised
        finally:
            operation.close()
            if opened is not None:
                await opened.aclose()

    async def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            answer = await self._http.send(_request(self._http, effect.call))
            return _reply(answer, answer.content)
        if isinstance(effect, Wait):
            await asyncio.sleep(effect.seconds)
            return None
        raise TypeError(f"an operation that yields {effect} is a stream")


async def _next(lines: AsyncIterator[str]) -> str | None:
    try:
        return await lines.__anext__()
    except StopAsyncIteration:
        return None


def _request(http: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    return http.build_request(
        call.method, call.path, content=call.body, headers=dict(call.headers), params=dict(call.query) or None
    )


def _reply(answer: httpx.Response, body: bytes) -> Reply:
    return Reply(answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, body)
