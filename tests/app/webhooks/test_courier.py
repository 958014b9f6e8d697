"""Deliveries: signed, at least once, in order per resource, and only where they may go."""

import hashlib
import hmac
import json
from collections.abc import Iterator

import pytest

from app.store import Store
from app.store.outbox import announce
from app.webhooks.courier import Courier
from app.webhooks.store import WebhookStore
from app.webhooks.targets import Targets
from tests.support.crew import Crew
from tests.support.receiver import Receiver
from tests.support.waiting import until

LOOPBACK = Targets.of(["127.0.0.0/8"])


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    opened = Store(database_url)
    yield opened
    opened.close()


def tell(store: Store, resource: str, number: int, owner: str = "me") -> None:
    with store.write() as t:
        announce(t, owner, "run.aggregated", resource, {"aggregation": number})


def waiting(store: Store, webhook_id: str) -> int:
    return sum(one.state == "waiting" for one in WebhookStore(store).log(webhook_id, 10_000))


def test_a_receiver_that_fails_a_third_gets_all_in_order_per_resource(store: Store) -> None:
    with Receiver(failing=1 / 3) as receiver:
        webhook = WebhookStore(store).create("me", receiver.url)
        couriers = [Courier(store, LOOPBACK, first_wait=0.01) for _ in range(2)]  # as two servers on one database
        for courier in couriers:
            courier.start()
        for number in range(8):
            for resource in ("run_a", "run_b", "run_c", "run_d", "run_e"):
                tell(store, resource, number)
        until(lambda: waiting(store, webhook.id) == 0)
        for courier in couriers:
            courier.stop()
    assert len(receiver.requests) > 40  # some were refused, and came again
    for resource in ("run_a", "run_b", "run_c", "run_d", "run_e"):
        # Where the answer was lost the same event came twice; none overtook another.
        first_seen = list(dict.fromkeys(event["data"]["aggregation"] for event in receiver.taken[resource]))
        assert first_seen == list(range(8))
    assert {one.state for one in WebhookStore(store).log(webhook.id, 99)} == {"delivered"}


def test_what_is_sent_is_signed_with_its_time(store: Store) -> None:
    with Receiver() as receiver:
        webhook = WebhookStore(store).create("me", receiver.url)
        tell(store, "run_a", 1)
        tell(store, "run_z", 1, owner="somebody else")
        courier = Courier(store, LOOPBACK, first_wait=0.01)
        courier.start()
        until(lambda: waiting(store, webhook.id) == 0)
        courier.stop()
    ((headers, body),) = receiver.requests
    parts = dict(part.split("=") for part in headers["X-Fedsift-Signature"].split(","))
    expected = hmac.new(webhook.secret.encode(), f"{parts['t']}.".encode() + body, hashlib.sha256).hexdigest()
    assert parts["v1"] == expected
    event = json.loads(body)
    assert int(event["created_at"]) <= int(parts["t"]) <= store.now()
    assert (headers["X-Fedsift-Delivery"], headers["X-Fedsift-Event"]) == (event["id"], "run.aggregated")
    assert (event["resource"], event["data"]) == ("run_a", {"aggregation": 1})


def test_a_redirect_is_not_followed(store: Store) -> None:
    with Receiver() as receiver, Receiver() as inside:
        receiver.redirect = inside.url
        webhook = WebhookStore(store).create("me", receiver.url)
        tell(store, "run_a", 1)
        courier = Courier(store, LOOPBACK, first_wait=0.01)
        courier.start()
        until(lambda: len(receiver.requests) >= 2)
        courier.stop()
    assert inside.requests == []
    (entry,) = WebhookStore(store).log(webhook.id, 9)
    assert (entry.state, entry.answer) == ("waiting", "307")


def test_a_target_that_is_not_listed_is_not_called(store: Store) -> None:
    with Receiver() as receiver:
        webhook = WebhookStore(store).create("me", receiver.url)
        tell(store, "run_a", 1)
        courier = Courier(store, Targets.of(["hooks.example"]), first_wait=0.01)
        courier.start()
        until(lambda: WebhookStore(store).log(webhook.id, 1)[0].attempts >= 2)
        courier.stop()
    assert receiver.requests == []
    assert WebhookStore(store).log(webhook.id, 1)[0].answer == "127.0.0.1 is not listed in FEDSIFT_WEBHOOK_TARGETS"


def test_a_delivery_whose_process_died_is_free_after_its_lease(store: Store) -> None:
    webhooks = WebhookStore(store)
    webhook = webhooks.create("me", "http://127.0.0.1:1/")
    tell(store, "run_a", 1)
    tell(store, "run_a", 2)
    first = webhooks.claim(3600)
    assert first is not None
    assert webhooks.claim(3600) is None  # the second of the resource waits for the first
    webhooks.failed(first, "500", -1)
    again = webhooks.claim(3600)
    assert again is not None
    assert (again.id, again.attempt) == (first.id, 2)
    webhooks.failed(first, "too late", -1)  # the first attempt is not the last any more
    assert webhooks.claim(3600) is None
    webhooks.delivered(again, "204")
    second = webhooks.claim(3600)
    assert second is not None
    assert json.loads(second.body)["data"] == {"aggregation": 2}
    assert webhooks.delete(webhook.id)
    assert webhooks.claim(3600) is None
    webhooks.failed(second, "500", 0)  # nobody minds that it is gone


def test_deliveries_are_deleted_when_they_are_old(store: Store) -> None:
    webhooks = WebhookStore(store)
    webhook = webhooks.create("me", "http://127.0.0.1:1/")
    tell(store, "run_a", 1)
    assert webhooks.delete_old(1) == 0
    with store.write() as t:
        t.change("UPDATE webhook_deliveries SET created_at = created_at - 2 * 86400")
    tell(store, "run_a", 2)
    assert webhooks.delete_old(1) == 1
    assert [one.attempts for one in webhooks.log(webhook.id, 9)] == [0]


def test_states_of_a_validation_are_told_in_the_transactions_that_make_them(crew: Crew) -> None:
    webhook = WebhookStore(crew.store).create("local", "http://127.0.0.1:1/")
    validation = crew.submit("random")
    assert crew.validations.cancel("local", validation)
    with crew.store.read() as t:
        bodies = t.rows("SELECT body FROM webhook_deliveries WHERE webhook_id = ? ORDER BY number", webhook.id)
    events = [json.loads(body) for (body,) in bodies]
    assert {event["resource"] for event in events} == {validation}
    told = [event["event"] for event in events]
    assert (told[0], told[-1]) == ("validation.queued", "validation.cancelled")
