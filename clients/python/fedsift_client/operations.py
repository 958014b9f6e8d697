"""What the service can do, as operations that both clients carry out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedsift_client.answers import Comparison, Period, Plan, summary_of
from fedsift_client.errors import InputError, ProblemError, UnreachableError
from fedsift_client.http.calls import Call, delete, get, post, post_archive
from fedsift_client.http.exchange import RETRIED, Operation, Patience, exchange
from fedsift_client.inputs import Given, archive, described, is_archive
from fedsift_client.orders import Order, orders_of
from fedsift_client.webhooks import Delivery, Webhook

__all__ = [
    "aggregate",
    "cancel_validation",
    "change_network",
    "compare",
    "create_webhook",
    "datasets",
    "deliveries",
    "diagnose",
    "forget",
    "import_fleet",
    "listed",
    "order",
    "orders",
    "period",
    "plan",
    "resume",
    "samplers",
    "show_network",
    "show_plan",
    "show_validation",
    "show_webhook",
    "start_run",
    "start_validation",
    "store_network",
    "webhooks",
]

_PAGE = 1000  # the most that the service puts on a page of a list


def plan(given: Given, parameters: Mapping[str, Any], patience: Patience) -> Operation[Plan]:
    """A plan; one that is to be kept is kept once."""
    asked = _checked(parameters)
    reply = yield from exchange(_posted("/v1/plans", given, asked, creates=bool(asked.get("keep"))), patience)
    return Plan.of_archive(reply.body) if is_archive(given) else Plan.of(reply.json())


def compare(given: Given, parameters: Mapping[str, Any], patience: Patience) -> Operation[Comparison]:
    """Plans side by side; nothing is kept, so that the call can be repeated."""
    if is_archive(given):
        raise InputError("a comparison takes no archive: store it with `store_network`, and give its id")
    reply = yield from exchange(post("/v1/comparisons", described(given, _checked(parameters))), patience)
    return Comparison.of(reply.json())


def diagnose(given: Given, parameters: Mapping[str, Any], patience: Patience) -> Operation[dict[str, Any]]:
    """What the network is like, before anything is solved."""
    call = _posted("/v1/plans", given, {**_checked(parameters), "dry_run": True}, creates=False)
    reply = yield from exchange(call, patience)
    return summary_of(reply.body) if is_archive(given) else reply.json()


def show_plan(plan_id: str, patience: Patience) -> Operation[Plan]:
    """A kept plan."""
    reply = yield from exchange(get(f"/v1/plans/{plan_id}"), patience)
    return Plan.of(reply.json())


def samplers(patience: Patience) -> Operation[dict[str, Any]]:
    """The samplers that the service has."""
    reply = yield from exchange(get("/v1/samplers"), patience)
    return reply.json()


def datasets(patience: Patience) -> Operation[dict[str, Any]]:
    """The data sets that validations can use."""
    reply = yield from exchange(get("/v1/datasets"), patience)
    return reply.json()


def import_fleet(
    files: Sequence[Path | str], options: Mapping[str, Any], patience: Patience
) -> Operation[dict[str, Any]]:
    """A fleet from files, and what was assumed."""
    body = {"files": [_text(one) for one in files], **options}
    if "label_counts" in body:
        body["label_counts"] = _text(body["label_counts"])
    reply = yield from exchange(post("/v1/imports", body), patience)
    return reply.json()


def _text(file: Path | str) -> dict[str, str]:
    try:
        return {"name": Path(file).name, "text": Path(file).read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not a text file: {error}") from error


def start_run(given: Given, parameters: Mapping[str, Any], patience: Patience) -> Operation[Period]:
    """The first period of a new run."""
    reply = yield from exchange(_posted("/v1/runs", given, _checked(parameters), creates=True), patience)
    return Period.of(reply.json())


def resume(run_id: str, patience: Patience) -> Operation[Period]:
    """The last period that was planned in a run."""
    reply = yield from exchange(get(f"/v1/runs/{run_id}"), patience)
    return (yield from period(run_id, int(reply.json()["aggregation"]), patience))


def period(run_id: str, aggregation: int, patience: Patience) -> Operation[Period]:
    """The period after an aggregation, as it was answered."""
    reply = yield from exchange(get(f"/v1/runs/{run_id}/aggregations/{aggregation}"), patience)
    return Period.of(reply.json())


def aggregate(run_id: str, report: Mapping[str, Any], patience: Patience) -> Operation[Period]:
    """The next period. The service answers the same report again with the same period, so it may be repeated."""
    body = {name: value for name, value in report.items() if value is not None}
    reply = yield from exchange(post(f"/v1/runs/{run_id}/aggregations", body), patience)
    return Period.of(reply.json())


def orders(run_id: str, aggregation: int, device: int | str | None, patience: Patience) -> Operation[tuple[Order, ...]]:
    """What devices are to send in a period; `device` selects one."""
    call = get(f"/v1/runs/{run_id}/aggregations/{aggregation}/orders", **_whose(device))
    reply = yield from exchange(call, patience)
    return orders_of(reply.json()["orders"])


def order(made_id: str, device: int | str, patience: Patience) -> Operation[Order]:
    """What one device is to send, by a kept plan or in the current period of a run; nothing else is fetched."""
    if made_id.startswith("run_"):
        shown = yield from exchange(get(f"/v1/runs/{made_id}"), patience)
        (found,) = yield from orders(made_id, int(shown.json()["aggregation"]), device, patience)
        return found
    reply = yield from exchange(get(f"/v1/plans/{made_id}/orders", **_whose(device)), patience)
    (found,) = orders_of(reply.json()["orders"])
    return found


def _whose(device: int | str | None) -> dict[str, int | str | None]:
    return {"id": device} if isinstance(device, str) else {"device": device}


def start_validation(request: Mapping[str, Any], patience: Patience) -> Operation[dict[str, Any]]:
    """Start an experiment."""
    asked = dict(request)
    key = asked.pop("idempotency_key", None)
    reply = yield from exchange(post("/v1/validations", asked, creates=True, key=key), patience)
    return reply.json()


def show_validation(validation_id: str, patience: Patience) -> Operation[dict[str, Any]]:
    """Where an experiment stands, with its results so far."""
    reply = yield from exchange(get(f"/v1/validations/{validation_id}"), patience)
    return reply.json()


def cancel_validation(validation_id: str, patience: Patience) -> Operation[dict[str, Any]]:
    """End an experiment at its next round."""
    reply = yield from exchange(post(f"/v1/validations/{validation_id}/cancel", {}), patience)
    return reply.json()


def store_network(given: Given, about: Mapping[str, Any], patience: Patience) -> Operation[dict[str, Any]]:
    """Store a network or fleet as version 1."""
    reply = yield from exchange(_posted("/v1/networks", given, about, creates=True), patience)
    return reply.json()


def show_network(network_id: str, version: int | None, patience: Patience) -> Operation[dict[str, Any]]:
    """A version of a stored network, with its devices and links."""
    reply = yield from exchange(get(f"/v1/networks/{network_id}", version=version), patience)
    return reply.json()


def change_network(network_id: str, patch: Mapping[str, Any], patience: Patience) -> Operation[dict[str, Any]]:
    """Make the next version of a stored network."""
    asked = dict(patch)
    key = asked.pop("idempotency_key", None)
    call = post(f"/v1/networks/{network_id}", asked, creates=True, key=key, method="PATCH")
    reply = yield from exchange(call, patience)
    return reply.json()


def create_webhook(url: str, patience: Patience) -> Operation[Webhook]:
    """Register a webhook. If its answer is lost, so is the secret: then it is deleted and made again.

    Only a webhook that may be this call's own is deleted: one that was not there before, after a lost answer.
    """
    before = {one.id for one in (yield from webhooks(patience))}
    call = post("/v1/webhooks", {"url": url})
    try:
        reply = yield from exchange(call, replace(patience, seconds=0))
    except (UnreachableError, ProblemError) as error:
        if isinstance(error, ProblemError) and error.status not in RETRIED:
            raise
        for one in (yield from webhooks(patience)):
            if one.url == url and one.id not in before:
                yield from forget(f"/v1/webhooks/{one.id}", patience)
        reply = yield from exchange(call, patience)
    return Webhook.of(reply.json())


def webhooks(patience: Patience) -> Operation[list[Webhook]]:
    """All webhooks, without their secrets."""
    reply = yield from exchange(get("/v1/webhooks"), patience)
    return [Webhook.of(one) for one in reply.json()["webhooks"]]


def show_webhook(webhook_id: str, patience: Patience) -> Operation[Webhook]:
    """A webhook, without its secret."""
    reply = yield from exchange(get(f"/v1/webhooks/{webhook_id}"), patience)
    return Webhook.of(reply.json())


def deliveries(webhook_id: str, limit: int, patience: Patience) -> Operation[list[Delivery]]:
    """What arrived at a webhook and what waits, newest first."""
    reply = yield from exchange(get(f"/v1/webhooks/{webhook_id}/deliveries", limit=limit), patience)
    return [Delivery.of(one) for one in reply.json()["deliveries"]]


def listed(
    kind: str, name: str | None, labels: Mapping[str, str] | None, patience: Patience
) -> Operation[list[dict[str, Any]]]:
    """All plans, runs, validations or networks that are kept, oldest first."""
    found: list[dict[str, Any]] = []
    label = [f"{key}:{value}" for key, value in (labels or {}).items()]
    after: str | None = None
    while True:
        reply = yield from exchange(get(f"/v1/{kind}", limit=_PAGE, after=after, name=name, label=label), patience)
        page = reply.json()
        found += page[kind]
        after = page.get("next")
        if not after:
            return found


def forget(path: str, patience: Patience) -> Operation[None]:
    """Delete a plan, run, validation, network or webhook."""
    yield from exchange(delete(path), patience)


def _posted(path: str, given: Given, parameters: Mapping[str, Any], *, creates: bool) -> Call:
    """What is given, with the other fields of the request; an archive goes to a route of its own."""
    asked = dict(parameters)
    key = asked.pop("idempotency_key", None)
    if is_archive(given):
        return post_archive(f"{path}/binary", archive(given, asked), creates=creates, key=key)
    return post(path, described(given, asked), creates=creates, key=key)


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if "output" in parameters:
        raise InputError("plans come as arrays: `Step.matrix()` makes a dense matrix, so leave `output` out")
    return {name: value for name, value in parameters.items() if value is not None}
