"""Runs as objects: plan a period, train, report, plan the next."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fedsift_client import operations
from fedsift_client.answers import Period
from fedsift_client.http.events import Event, events
from fedsift_client.orders import Order

if TYPE_CHECKING:
    from fedsift_client.client import AsyncClient, Client

__all__ = ["AsyncRun", "Run"]


class _RunView:
    """What is known of a run without asking.

    Attributes:
        period: the last period that was planned.
    """

    def __init__(self, period: Period) -> None:
        self.period = period

    @property
    def id(self) -> str:
        """The run's id: with it, `Client.run` finds the run again after a restart."""
        return str(self.period.answer["id"])

    @property
    def aggregation(self) -> int:
        """The last aggregation that was reported."""
        return self.period.aggregation

    @property
    def is_finished(self) -> bool:
        """Whether all steps of the horizon are planned."""
        return self.period.state == "finished"

    def _report(
        self, gradient_norm: float, lost: Sequence[int | str], joined: Sequence[int | str], told: dict[str, Any]
    ) -> dict[str, Any]:
        report = {"aggregation": self.aggregation + 1, "gradient_norm": float(gradient_norm), **told}
        return report | self._named("lost", lost) | self._named("joined", joined)

    def _named(self, field: str, devices: Sequence[int | str]) -> dict[str, Any]:
        if not devices:
            return {}
        if all(isinstance(device, str) for device in devices):
            return {f"{field}_ids": list(devices)}
        return {field: [self.period.number_of(device) for device in devices]}


class Run(_RunView):
    """A run of the closed loop, made by `Client.start_run` or found again by `Client.run`."""

    def __init__(self, client: "Client", period: Period) -> None:
        super().__init__(period)
        self._client = client

    def aggregate(
        self,
        gradient_norm: float,
        *,
        lost: Sequence[int | str] = (),
        joined: Sequence[int | str] = (),
        **report: Any,
    ) -> Period:
        """Report an aggregation and plan the next period.

        Args:
            gradient_norm: ‖∇F̄‖ as observed.
            lost: devices that are gone, by number or id; the service replaces those that train.
            joined: devices that have come back; one that is in `lost` too was restarted.
            report: other fields of POST /v1/runs/{id}/aggregations, such as `gradient_noise` and `schedule`.
        """
        body = self._report(gradient_norm, lost, joined, report)
        self.period = self._client.perform(operations.aggregate(self.id, body, self._client.patience))
        return self.period

    def orders(self, device: int | str | None = None) -> tuple[Order, ...]:
        """What devices are to send in this period; `device` selects one by number or id."""
        return self._client.perform(operations.orders(self.id, self.aggregation, device, self._client.patience))

    def events(self, after: int = 0) -> Iterator[Event]:
        """A `plan` for each period that was and is planned, until the run has ended: for programs that look on."""
        return self._client.follow(events(f"/v1/runs/{self.id}/events", self._client.patience, after))

    def earlier(self, aggregation: int) -> Period:
        """An earlier period once more."""
        return self._client.perform(operations.period(self.id, aggregation, self._client.patience))

    def delete(self) -> None:
        """Forget the run."""
        self._client.perform(operations.forget(f"/v1/runs/{self.id}", self._client.patience))


class AsyncRun(_RunView):
    """The same with asyncio."""

    def __init__(self, client: "AsyncClient", period: Period) -> None:
        super().__init__(period)
        self._client = client

    async def aggregate(
        self,
        gradient_norm: float,
        *,
        lost: Sequence[int | str] = (),
        joined: Sequence[int | str] = (),
        **report: Any,
    ) -> Period:
        """As `Run.aggregate`."""
        body = self._report(gradient_norm, lost, joined, report)
        self.period = await self._client.perform(operations.aggregate(self.id, body, self._client.patience))
        return self.period

    async def orders(self, device: int | str | None = None) -> tuple[Order, ...]:
        """As `Run.orders`."""
        return await self._client.perform(operations.orders(self.id, self.aggregation, device, self._client.patience))

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """As `Run.events`."""
        return self._client.follow(events(f"/v1/runs/{self.id}/events", self._client.patience, after))

    async def earlier(self, aggregation: int) -> Period:
        """As `Run.earlier`."""
        return await self._client.perform(operations.period(self.id, aggregation, self._client.patience))

    async def delete(self) -> None:
        """Forget the run."""
        await self._client.perform(operations.forget(f"/v1/runs/{self.id}", self._client.patience))
