"""The two clients: one that blocks, one for asyncio."""

from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx

from fedsift_client import operations
from fedsift_client.answers import Comparison, Plan
from fedsift_client.http.events import Event
from fedsift_client.http.exchange import Effect, Operation, Patience
from fedsift_client.http.wires import AsyncWire, Wire, address, credentials
from fedsift_client.inputs import Given
from fedsift_client.orders import Order
from fedsift_client.runs import AsyncRun, Run
from fedsift_client.validations import AsyncValidation, Validation
from fedsift_client.webhooks import Delivery, Webhook

__all__ = ["AsyncClient", "Client"]

T = TypeVar("T")
Kind = Literal["plans", "runs", "validations", "networks"]


class Client:
    """Calls one fedsift service.

    Calls that fail for a moment (429, 502, 503, 504, a broken connection, no answer within `timeout`) are repeated.
    `Retry-After` is honoured, and no repetition makes anything twice.

    Attributes:
        patience: how long calls are repeated.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout: float = 90.0,
        patience: float | Patience = 60.0,
    ) -> None:
        """Take the address and the API key as given, else from FEDSIFT_URL and FEDSIFT_API_KEY.

        Args:
            url: as http://127.0.0.1:8000.
            key: an API key, if the service asks for one.
            timeout: seconds that one attempt may wait for the service.
            patience: seconds after which no further attempt is made.
        """
        self.patience = patience if isinstance(patience, Patience) else Patience(patience)
        self._http = httpx.Client(base_url=address(url), headers=credentials(key), timeout=timeout)
        self._wire = Wire(self._http)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def perform(self, operation: Operation[T]) -> T:
        """Carry out an operation of `fedsift_client.operations`."""
        return self._wire.run(operation)

    def follow(self, operation: Generator[Effect | Event, Any, None]) -> Iterator[Event]:
        """The events of an operation."""
        return self._wire.stream(operation)

    def plan(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> Plan:
        """Choose devices and plan their offloading.

        Args:
            given: a fleet or a network as a dict, a networkx graph, a pair of frames (devices, links), the path of an
                .npz archive, or the id of a stored network.
            sample_size: how many devices train.
            horizon: how many steps are planned.
            parameters: other fields of POST /v1/plans; for a graph or frames also those of a fleet, as `step_seconds`.
        """
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return self.perform(operations.plan(given, asked, self.patience))

    def compare(self, given: Given, *, sample_sizes: Sequence[int], horizon: int, **parameters: Any) -> Comparison:
        """Plan for every combination of `sample_sizes`, `samplers`, `budget_scales` and `seeds`, side by side.

        `given` is as for `plan`, but no archive; other fields are those of POST /v1/comparisons.
        """
        asked = {"sample_sizes": list(sample_sizes), "horizon": horizon, **parameters}
        return self.perform(operations.compare(given, asked, self.patience))

    def kept_plan(self, plan_id: str) -> Plan:
        """A plan that was asked for with `keep=True`."""
        return self.perform(operations.show_plan(plan_id, self.patience))

    def delete_plan(self, plan_id: str) -> None:
        """Forget a kept plan."""
        self.perform(operations.forget(f"/v1/plans/{plan_id}", self.patience))

    def order(self, made_id: str, device: int | str) -> Order:
        """What one device is to send, by number or id: by a kept plan, or in the current period of a run.

        The plan or run was asked for with `orders=True`. An order may be empty.
        """
        return self.perform(operations.order(made_id, device, self.patience))

    def diagnose(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> dict[str, Any]:
        """What the network is like, and what a fleet is translated into; nothing is solved."""
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return self.perform(operations.diagnose(given, asked, self.patience))

    def samplers(self) -> dict[str, Any]:
        """The samplers that the service has."""
        return self.perform(operations.samplers(self.patience))

    def datasets(self) -> dict[str, Any]:
        """The data sets that validations can use, and which of them the workers have."""
        return self.perform(operations.datasets(self.patience))

    def import_fleet(self, *files: Path | str, **options: Any) -> dict[str, Any]:
        """Make a fleet of a mesh, a graph, or tables of devices and links: `fleet`, and what was assumed.

        Other fields are those of POST /v1/imports; `label_counts` is the path of a table.
        """
        return self.perform(operations.import_fleet(files, options, self.patience))

    def start_run(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> Run:
        """Start a run and plan its first period; as `plan`."""
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return Run(self, self.perform(operations.start_run(given, asked, self.patience)))

    def run(self, run_id: str) -> Run:
        """A run that was started before, at its last period."""
        return Run(self, self.perform(operations.resume(run_id, self.patience)))

    def validate(self, **request: Any) -> Validation:
        """Start an experiment; the fields are those of POST /v1/validations."""
        return Validation(self, self.perform(operations.start_validation(request, self.patience)))

    def validation(self, validation_id: str) -> Validation:
        """An experiment that was started before."""
        return Validation(self, self.perform(operations.show_validation(validation_id, self.patience)))

    def listed(
        self, kind: Kind, *, name: str | None = None, labels: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """All that is kept of a kind, oldest first; only those of this name, and with all of these labels."""
        return self.perform(operations.listed(kind, name, labels, self.patience))

    def store_network(self, given: Given, **about: Any) -> dict[str, Any]:
        """Store a network or fleet; `plan` and others take the `id` of the answer in its place.

        `given` is as for `plan`; `about` has `name` and `labels`, for a graph or frames also a fleet's own fields.
        """
        return self.perform(operations.store_network(given, about, self.patience))

    def network(self, network_id: str, version: int | None = None) -> dict[str, Any]:
        """A stored network with its devices and links: its newest version, or this one."""
        return self.perform(operations.show_network(network_id, version, self.patience))

    def change_network(self, network_id: str, **patch: Any) -> dict[str, Any]:
        """Make the next version of a stored network; the fields are those of PATCH /v1/networks/{id}."""
        return self.perform(operations.change_network(network_id, patch, self.patience))

    def delete_network(self, network_id: str) -> None:
        """Forget a stored network, with all its versions."""
        self.perform(operations.forget(f"/v1/networks/{network_id}", self.patience))

    def create_webhook(self, url: str) -> Webhook:
        """Have the events of your plans, runs and validations sent to a URL. Keep the `secret`: it is told once."""
        return self.perform(operations.create_webhook(url, self.patience))

    def webhooks(self) -> list[Webhook]:
        """Your webhooks, oldest first, without their secrets."""
        return self.perform(operations.webhooks(self.patience))

    def webhook(self, webhook_id: str) -> Webhook:
        """One of them."""
        return self.perform(operations.show_webhook(webhook_id, self.patience))

    def deliveries(self, webhook_id: str, *, limit: int = 100) -> list[Delivery]:
        """What arrived at a webhook, what waits and why, newest first."""
        return self.perform(operations.deliveries(webhook_id, limit, self.patience))

    def delete_webhook(self, webhook_id: str) -> None:
        """Forget a webhook, with what was to be delivered to it."""
        self.perform(operations.forget(f"/v1/webhooks/{webhook_id}", self.patience))


class AsyncClient:
    """The same with asyncio."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout: float = 90.0,
        patience: float | Patience = 60.0,
    ) -> None:
        """As `Client`."""
        self.patience = patience if isinstance(patience, Patience) else Patience(patience)
        self._http = httpx.AsyncClient(base_url=address(url), headers=credentials(key), timeout=timeout)
        self._wire = AsyncWire(self._http)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def perform(self, operation: Operation[T]) -> T:
        """Carry out an operation of `fedsift_client.operations`."""
        return await self._wire.run(operation)

    def follow(self, operation: Generator[Effect | Event, Any, None]) -> AsyncIterator[Event]:
        """The events of an operation."""
        return self._wire.stream(operation)

    async def plan(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> Plan:
        """As `Client.plan`."""
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return await self.perform(operations.plan(given, asked, self.patience))

    async def compare(
        self, given: Given, *, sample_sizes: Sequence[int], horizon: int, **parameters: Any
    ) -> Comparison:
        """As `Client.compare`."""
        asked = {"sample_sizes": list(sample_sizes), "horizon": horizon, **parameters}
        return await self.perform(operations.compare(given, asked, self.patience))

    async def kept_plan(self, plan_id: str) -> Plan:
        """As `Client.kept_plan`."""
        return await self.perform(operations.show_plan(plan_id, self.patience))

    async def delete_plan(self, plan_id: str) -> None:
        """Forget a kept plan."""
        await self.perform(operations.forget(f"/v1/plans/{plan_id}", self.patience))

    async def order(self, made_id: str, device: int | str) -> Order:
        """As `Client.order`."""
        return await self.perform(operations.order(made_id, device, self.patience))

    async def diagnose(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> dict[str, Any]:
        """As `Client.diagnose`."""
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return await self.perform(operations.diagnose(given, asked, self.patience))

    async def samplers(self) -> dict[str, Any]:
        """The samplers that the service has."""
        return await self.perform(operations.samplers(self.patience))

    async def datasets(self) -> dict[str, Any]:
        """As `Client.datasets`."""
        return await self.perform(operations.datasets(self.patience))

    async def import_fleet(self, *files: Path | str, **options: Any) -> dict[str, Any]:
        """As `Client.import_fleet`."""
        return await self.perform(operations.import_fleet(files, options, self.patience))

    async def start_run(self, given: Given, *, sample_size: int, horizon: int, **parameters: Any) -> AsyncRun:
        """As `Client.start_run`."""
        asked = {"sample_size": sample_size, "horizon": horizon, **parameters}
        return AsyncRun(self, await self.perform(operations.start_run(given, asked, self.patience)))

    async def run(self, run_id: str) -> AsyncRun:
        """As `Client.run`."""
        return AsyncRun(self, await self.perform(operations.resume(run_id, self.patience)))

    async def validate(self, **request: Any) -> AsyncValidation:
        """As `Client.validate`."""
        return AsyncValidation(self, await self.perform(operations.start_validation(request, self.patience)))

    async def validation(self, validation_id: str) -> AsyncValidation:
        """As `Client.validation`."""
        return AsyncValidation(self, await self.perform(operations.show_validation(validation_id, self.patience)))

    async def listed(
        self, kind: Kind, *, name: str | None = None, labels: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """As `Client.listed`."""
        return await self.perform(operations.listed(kind, name, labels, self.patience))

    async def store_network(self, given: Given, **about: Any) -> dict[str, Any]:
        """As `Client.store_network`."""
        return await self.perform(operations.store_network(given, about, self.patience))

    async def network(self, network_id: str, version: int | None = None) -> dict[str, Any]:
        """As `Client.network`."""
        return await self.perform(operations.show_network(network_id, version, self.patience))

    async def change_network(self, network_id: str, **patch: Any) -> dict[str, Any]:
        """As `Client.change_network`."""
        return await self.perform(operations.change_network(network_id, patch, self.patience))

    async def delete_network(self, network_id: str) -> None:
        """As `Client.delete_network`."""
        await self.perform(operations.forget(f"/v1/networks/{network_id}", self.patience))

    async def create_webhook(self, url: str) -> Webhook:
        """As `Client.create_webhook`."""
        return await self.perform(operations.create_webhook(url, self.patience))

    async def webhooks(self) -> list[Webhook]:
        """As `Client.webhooks`."""
        return await self.perform(operations.webhooks(self.patience))

    async def webhook(self, webhook_id: str) -> Webhook:
        """As `Client.webhook`."""
        return await self.perform(operations.show_webhook(webhook_id, self.patience))

    async def deliveries(self, webhook_id: str, *, limit: int = 100) -> list[Delivery]:
        """As `Client.deliveries`."""
        return await self.perform(operations.deliveries(webhook_id, limit, self.patience))

    async def delete_webhook(self, webhook_id: str) -> None:
        """As `Client.delete_webhook`."""
        await self.perform(operations.forget(f"/v1/webhooks/{webhook_id}", self.patience))
