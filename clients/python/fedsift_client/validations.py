"""Validations as objects: start an experiment, follow it, read its curves."""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from fedsift_client import operations
from fedsift_client.errors import InputError
from fedsift_client.http.events import ENDED, Event, events

if TYPE_CHECKING:
    from fedsift_client.client import AsyncClient, Client

__all__ = ["AsyncValidation", "ProgressBar", "Validation"]

_WIDTH = 30


class ProgressBar:
    """Shows progress on one line of a terminal; elsewhere it writes a line for every tenth."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._shown = ""

    def show(self, share: float, note: str) -> None:
        """Show the share that is done, from 0 to 1, and a note."""
        done = round(_WIDTH * min(max(share, 0.0), 1.0))
        # Elsewhere than on a terminal, what changes more often than every tenth would fill a log.
        key = f"{100 * share:3.0f} % {note}" if self._is_terminal else f"{int(10 * share)} {note}"
        if key == self._shown:
            return
        self._shown = key
        text = f"{self._title} [{'#' * done}{'-' * (_WIDTH - done)}] {100 * share:3.0f} % {note}"
        self._stream.write(f"\r{text}\x1b[K" if self._is_terminal else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._is_terminal and self._shown:
            self._stream.write("\n")
            self._stream.flush()


class _ValidationView:
    """What is known of a validation without asking.

    Attributes:
        answer: the service's last answer.
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer

    @property
    def id(self) -> str:
        """The validation's id: with it, `Client.validation` finds it again."""
        return str(self.answer["id"])

    @property
    def state(self) -> str:
        """`queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`, at the last look."""
        return str(self.answer["state"])

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, at the last look."""
        return self.state in ENDED

    def curve(self, scheme: str, measure: str = "accuracy") -> NDArray[np.float64]:
        """A scheme's mean `accuracy`, `loss` or `gradient_norm` after each aggregation, k = 0 first."""
        for one in self.answer["schemes"]:
            if one["scheme"] == scheme:
                return np.asarray(one[measure]["mean"], np.float64)
        raise InputError(f"this validation has no scheme {scheme!r}")

    @property
    def _path(self) -> str:
        return f"/v1/validations/{self.id}"

    def _bar(self) -> ProgressBar:
        bar = ProgressBar(self.id[:12])
        bar.show(float(self.answer.get("progress", 0.0)), self.state)
        return bar


class _Shown:
    """Shows events on a bar."""

    def __init__(self, bar: ProgressBar | None, share: float, state: str) -> None:
        self._bar, self._share, self._state = bar, share, state

    def take(self, event: Event) -> None:
        self._state = str(event.body.get("state", self._state))
        self._share = max(self._share, float(event.body.get("progress", self._share)))
        if self._bar is not None:
            self._bar.show(1.0 if self._state == "succeeded" else self._share, self._state)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.end()


class Validation(_ValidationView):
    """An experiment, made by `Client.validate` or found again by `Client.validation`."""

    def __init__(self, client: "Client", answer: dict[str, Any]) -> None:
        super().__init__(answer)
        self._client = client

    def events(self, after: int = 0) -> Iterator[Event]:
        """What has happened and happens, each event once, until the end; broken connections are taken up again."""
        return self._client.follow(events(f"{self._path}/events", self._client.patience, after))

    def follow(self, *, progress: bool = True) -> dict[str, Any]:
        """Wait for the end, with a bar on standard error, and return the results."""
        shown = _Shown(self._bar() if progress else None, 0.0, self.state)
        try:
            for event in self.events():
                shown.take(event)
        finally:
            shown.end()
        return self.refresh()

    def refresh(self) -> dict[str, Any]:
        """Look where it stands."""
        self.answer = self._client.perform(operations.show_validation(self.id, self._client.patience))
        return self.answer

    def cancel(self) -> dict[str, Any]:
        """End it at its next round; what was measured stays."""
        self.answer = self._client.perform(operations.cancel_validation(self.id, self._client.patience))
        return self.answer

    def delete(self) -> None:
        """Forget it, once it has ended."""
        self._client.perform(operations.forget(self._path, self._client.patience))


class AsyncValidation(_ValidationView):
    """The same with asyncio."""

    def __init__(self, client: "AsyncClient", answer: dict[str, Any]) -> None:
        super().__init__(answer)
        self._client = client

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """As `Validation.events`."""
        return self._client.follow(events(f"{self._path}/events", self._client.patience, after))

    async def follow(self, *, progress: bool = True) -> dict[str, Any]:
        """As `Validation.follow`."""
        shown = _Shown(self._bar() if progress else None, 0.0, self.state)
        try:
            async for event in self.events():
                shown.take(event)
        finally:
            shown.end()
        return await self.refresh()

    async def refresh(self) -> dict[str, Any]:
        """Look where it stands."""
        self.answer = await self._client.perform(operations.show_validation(self.id, self._client.patience))
        return self.answer

    async def cancel(self) -> dict[str, Any]:
        """As `Validation.cancel`."""
        self.answer = await self._client.perform(operations.cancel_validation(self.id, self._client.patience))
        return self.answer

    async def delete(self) -> None:
        """As `Validation.delete`."""
        await self._client.perform(operations.forget(self._path, self._client.patience))
