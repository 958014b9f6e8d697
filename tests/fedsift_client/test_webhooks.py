"""Webhooks with a live service that delivers, and receivers that believe only what is signed."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedsift_client import (
    AsyncClient,
    Client,
    ConflictError,
    Delivery,
    InvalidRequestError,
    NotFoundError,
    ProtocolError,
    SignatureError,
    Webhook,
    read_notice,
)
from tests.support.receiver import Receiver
from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.unruly import Answer, Lose, unruly_service
from tests.support.waiting import until

NETWORK = random_request(1, 8)["network"]


@pytest.fixture(scope="module")
def delivering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("webhooks")
    with running_server(folder, workers="1", webhook_targets='["127.0.0.0/8"]') as server:
        yield server


def delivered(client: Client, webhook: Webhook) -> list[Delivery]:
    """What was delivered, once nothing waits any more."""
    found: list[Delivery] = []

    def all_delivered() -> bool:
        found[:] = client.deliveries(webhook.id, limit=10)
        return bool(found) and all(one.state == "delivered" for one in found)

    until(all_delivered)
    return found


def test_a_receiver_reads_what_was_signed_for_it(delivering: Server) -> None:
    with Receiver() as receiver, Client(delivering.url) as client:
        webhook = client.create_webhook(receiver.url)
        assert webhook.secret is not None
        known = Webhook(webhook.id, receiver.url, webhook.created_at)
        assert client.webhooks() == [known]
        assert client.webhook(webhook.id) == known
        run = client.start_run(NETWORK, sample_size=2, horizon=4, aggregation_period=2)
        (entry,) = delivered(client, webhook)
        ((headers, body),) = receiver.requests
        signature = headers["X-Fedsift-Signature"]
        notice = read_notice(webhook.secret, signature, body)
        assert (notice.id, notice.event, notice.resource) == (entry.id, "run.started", run.id)
        assert notice.data == {"aggregation": 0}
        assert (entry.event, entry.resource, entry.answer) == ("run.started", run.id, "204")
        for strange in (None, "", "t=1", "t=x,v1=y", signature[:-1] + ("0" if signature[-1] != "0" else "1")):
            with pytest.raises(SignatureError):
                read_notice(webhook.secret, strange, body)
        with pytest.raises(SignatureError, match="another body"):
            read_notice(webhook.secret, signature, body + b" ")
        with pytest.raises(SignatureError, match="another body or secret"):
            read_notice("whs_another", signature, body)
        with pytest.raises(SignatureError, match="too old"):
            read_notice(webhook.secret, signature, body, now=time.time() + 301)
        client.delete_webhook(webhook.id)
        with pytest.raises(NotFoundError):
            client.deliveries(webhook.id)


def test_a_lost_answer_costs_no_secret(delivering: Server) -> None:
    """The secret is told once. If that answer is lost, the webhook is made again, and there is one."""
    with Receiver() as receiver, Client(delivering.url) as direct:
        script = (Answer(body=b'{"webhooks": []}'), Lose())
        with unruly_service(*script, behind=delivering.url) as service, Client(service.url) as client:
            webhook = client.create_webhook(receiver.url)
        assert webhook.secret is not None
        assert [one.id for one in direct.webhooks()] == [webhook.id]
        with pytest.raises(ConflictError):  # that of somebody else is left alone
            direct.create_webhook(receiver.url)
        direct.delete_webhook(webhook.id)


def test_a_webhook_that_another_process_makes_meanwhile_is_left_alone(delivering: Server) -> None:
    with Receiver() as receiver, Client(delivering.url) as direct:
        theirs = direct.create_webhook(receiver.url)
        # As if the other process had made it after this one looked.
        script = (Answer(body=b'{"webhooks": []}'),)
        with (
            unruly_service(*script, behind=delivering.url) as service,
            Client(service.url) as client,
            pytest.raises(ConflictError),
        ):
            client.create_webhook(receiver.url)
        assert [one.id for one in direct.webhooks()] == [theirs.id]
        direct.delete_webhook(theirs.id)


def test_the_same_with_asyncio(delivering: Server) -> None:
    async def used() -> None:
        async with AsyncClient(delivering.url) as client:
            webhook = await client.create_webhook("http://127.0.0.1:9/hook")
            assert webhook.secret
            assert [one.id for one in await client.webhooks()] == [webhook.id]
            assert (await client.webhook(webhook.id)).secret is None
            assert await client.deliveries(webhook.id) == []
            await client.delete_webhook(webhook.id)
            with pytest.raises(InvalidRequestError) as caught:
                await client.create_webhook("https://inside.example/")
            assert [fault.pointer for fault in caught.value.faults] == ["/url"]

    asyncio.run(used())


def test_what_is_no_webhook_is_refused() -> None:
    with pytest.raises(ProtocolError, match="not a webhook"):
        Webhook.of({"id": "whk_1"})
    with pytest.raises(ProtocolError, match="not a delivery"):
        Delivery.of({"id": "evt_1"})
