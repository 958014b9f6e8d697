"""Retries: against a service that is busy, stalls, drops connections and loses answers."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from fedsift_client import (
    AsyncClient,
    BusyError,
    Client,
    InputError,
    InvalidRequestError,
    NoRoomError,
    Patience,
    ProblemError,
    ProtocolError,
    UnreachableError,
)
from fedsift_client.http import wires
from tests.support.requests import random_request
from tests.support.server import Server, free_port
from tests.support.unruly import Answer, Drop, Lose, Stall, unruly_service

QUICK = Patience(30.0, first_wait=0.01, longest_wait=0.02)
BUSY = Answer(503, b'{"title": "Busy", "detail": "the queue is full", "status": 503}')


def asking(status: int, after: str) -> Answer:
    return Answer(status, b"{}", (("Retry-After", after),))


def network() -> dict[str, object]:
    body: dict[str, object] = random_request(3, 8)["network"]
    return body


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited."""
    begun: list[float] = []
    monkeypatch.setattr(wires, "time", SimpleNamespace(sleep=begun.append, monotonic=time.monotonic))
    return begun


def test_retry_after_is_honoured(waits: list[float]) -> None:
    with unruly_service(asking(429, "1"), asking(503, "0"), Answer()) as service, Client(service.url) as client:
        assert client.samplers() == {}
    first, second = waits
    assert first >= 1
    assert second < 1


def test_retry_after_may_be_a_date(waits: list[float]) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20))
    with unruly_service(asking(503, soon), Answer()) as service, Client(service.url) as client:
        client.samplers()
    (one,) = waits
    assert 5 < one < 21


def test_a_wait_beyond_all_patience_is_not_begun(waits: list[float]) -> None:
    with (
        unruly_service(asking(429, "3600")) as service,
        Client(service.url, patience=30) as client,
        pytest.raises(BusyError),
    ):
        client.samplers()
    assert waits == []


@pytest.mark.parametrize(
    "trouble", [BUSY, Answer(502, b"<html>"), Drop(), Answer(200, b"{", cut=True), Stall(20)], ids=str
)
def test_what_fails_for_a_moment_is_repeated(trouble: Answer | Drop | Stall) -> None:
    script = (trouble, trouble, Answer(200, b'{"samplers": []}'))
    with unruly_service(*script) as service, Client(service.url, timeout=0.5, patience=QUICK) as client:
        assert client.samplers() == {"samplers": []}
    assert len(service.seen) == 3


@pytest.mark.parametrize("trouble", [BUSY, Drop(), Stall(20)], ids=str)
def test_it_is_repeated_with_asyncio_too(trouble: Answer | Drop | Stall) -> None:
    async def ask(url: str) -> dict[str, object]:
        async with AsyncClient(url, timeout=0.5, patience=QUICK) as client:
            return await client.samplers()

    with unruly_service(trouble, trouble, Answer()) as service:
        assert asyncio.run(ask(service.url)) == {}
    assert len(service.seen) == 3


def test_patience_ends() -> None:
    patience = Patience(0.5, first_wait=0.05, longest_wait=0.1)
    with unruly_service(*[BUSY] * 100) as service, Client(service.url, patience=patience) as client:
        with pytest.raises(BusyError) as caught:
            client.samplers()
        assert 3 <= len(service.seen) <= 20
    assert caught.value.detail == "the queue is full"
    with (
        Client(f"http://127.0.0.1:{free_port()}", patience=patience) as client,
        pytest.raises(UnreachableError) as gone,
    ):
        client.samplers()
    assert gone.value.__cause__ is not None


def test_a_refusal_is_not_repeated(server: Server) -> None:
    with unruly_service(behind=server.url) as service, Client(service.url) as client:
        with pytest.raises(InvalidRequestError) as caught:
            client.plan(network(), sample_size=99, horizon=3, colour="red")
        assert len(service.seen) == 1
    error = caught.value
    assert (error.status, error.type) == (422, "urn:fedsift:problem:invalid")
    assert [fault.pointer for fault in error.faults] == ["/colour"]
    assert error.request_id
    assert "/colour: " in str(error)


@pytest.mark.parametrize(("status", "kind"), [(507, NoRoomError), (500, ProblemError), (418, ProblemError)])
def test_other_problems_have_their_errors(status: int, kind: type[ProblemError]) -> None:
    answer = Answer(status, b"no JSON")
    with unruly_service(answer) as service, Client(service.url) as client, pytest.raises(kind) as caught:
        client.samplers()
    assert (caught.value.status, caught.value.detail) == (status, "no JSON")


@pytest.mark.parametrize("body", [b"<html>", b"[]"])
def test_an_answer_of_another_program_is_told(body: bytes) -> None:
    told = pytest.raises(ProtocolError, match="is this the address of fedsift")
    with unruly_service(Answer(200, body)) as service, Client(service.url) as client, told:
        client.samplers()


def test_what_was_made_is_made_once_though_its_answer_is_lost(server: Server) -> None:
    with unruly_service(Lose(), Lose(), behind=server.url) as service:
        with Client(service.url, patience=QUICK) as client:
            run = client.start_run(network(), sample_size=1, horizon=2, labels={"test": "made-once"})
            with server.client() as http:
                listed = http.get("/v1/runs", params={"label": "test:made-once"}).json()["runs"]
        assert [one["id"] for one in listed] == [run.id]
        assert len({seen.headers["idempotency-key"] for seen in service.seen}) == 1
        assert len(service.seen) == 3


def test_an_aggregation_whose_answer_is_lost_is_not_counted_twice(server: Server) -> None:
    with unruly_service(behind=server.url) as service, Client(service.url, patience=QUICK) as client:
        run = client.start_run(network(), sample_size=1, horizon=6, aggregation_period=2)
        service.script.append(Lose())
        assert run.aggregate(0.9).aggregation == 1
        assert run.aggregate(0.8).aggregation == 2
        assert run.is_finished


def test_a_delete_whose_answer_is_lost_has_deleted(server: Server) -> None:
    with unruly_service(behind=server.url) as service, Client(service.url, patience=QUICK) as client:
        run = client.start_run(network(), sample_size=1, horizon=2)
        service.script.append(Lose())
        run.delete()
        with pytest.raises(ProblemError) as caught:
            run.delete()
        assert caught.value.status == 404


def test_keys_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with unruly_service(Answer(), Answer()) as service:
        with Client(service.url, key="secret") as client:
            client.samplers()
        monkeypatch.setenv("FEDSIFT_API_KEY", "other")
        monkeypatch.setenv("FEDSIFT_URL", service.url + "/")
        with Client() as client:
            client.samplers()
    assert [seen.headers["x-api-key"] for seen in service.seen] == ["secret", "other"]


def test_what_cannot_be_sent_is_refused_here() -> None:
    with pytest.raises(InputError, match="must begin with http"):
        Client("localhost:8000")
    with pytest.raises(InputError, match="patience"):
        Client(patience=-1)
    with Client() as client, pytest.raises(InputError, match="this is no JSON"):
        client.plan({"devices": [], "load": float("nan")}, sample_size=1, horizon=1)
