"""Every moment that is kept comes from the database's clock, on both databases, however wrong Python's clock is."""

import ast
import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import app
from app.keys.ring import KeyRing
from app.keys.store import KeyStore
from app.main import create_app
from app.settings import Settings
from app.store import Store
from app.validations.store import ValidationStore
from app.webhooks.store import WebhookStore
from tests.support.requests import random_request

PLAN = random_request(1, 10, sample_size=2, horizon=6, aggregation_period=2, sampler="random", seed=7)
BODIES: dict[str, dict[str, Any]] = {
    "plans": {**PLAN, "keep": True},
    "runs": PLAN,
    "networks": {"network": PLAN["network"]},
    "validations": {
        "source": {"kind": "generator", "devices": 8, "mean_datapoints": 20},
        "schemes": ["ours"],
        "seeds": [3],
        "sample_size": 2,
        "aggregations": 2,
        "model": "softmax",
    },
    "webhooks": {"url": "http://127.0.0.1:1/"},
}
OFF = {"behind": -600.0, "ahead": 600.0}
LATE = 0.001
SQL_CLOCK = {
    "sqlite": "SELECT (julianday('now') - 2440587.5) * 86400",
    "postgresql": "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)",
}
# Why each module may read a clock of Python: nothing of it is kept, or compared with what is kept.
READS_A_CLOCK = {
    "store/sqlite.py": "the clock of a SQLite database is the machine's",
    "telemetry/traces.py": "when a span ended",
    "commands/keys.py": "refuses a moment that is over before a database is made for it",
    "commands/operating/doctor.py": "compares this machine's clock with the database's",
}


@pytest.fixture(params=OFF)
def off(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """Python's clock is wrong by ten minutes."""
    seconds, right = OFF[request.param], time.time
    monkeypatch.setattr(time, "time", lambda: right() + seconds)
    return seconds


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    opened = Store(database_url)
    yield opened
    opened.close()


class Service:
    """The service in this very process, so that its clock can be changed."""

    def __init__(self, url: str) -> None:
        self.app = create_app(Settings(database_url=url, webhook_targets=["127.0.0.1"]))

    def __call__(self, method: str, place: str, body: Any = None) -> dict[str, Any]:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
                return await client.request(method, f"/v1/{place}", json=body)

        answer = asyncio.run(ask())
        assert answer.is_success, answer.text
        shown: dict[str, Any] = answer.json()
        return shown


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    made = Service(database_url)
    yield made
    made.app.state.service.store.close()


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.fixture
def clock(store: Store, database_url: str) -> Callable[[], float]:
    """The database's clock as its own SQL tells it; that of SQLite is up to a millisecond late."""
    sql = SQL_CLOCK[database_url.partition(":")[0]]

    def read() -> float:
        with store.read() as t:
            ((moment,),) = t.rows(sql)
        return float(moment)

    return read


@pytest.mark.usefixtures("off")
def test_a_transaction_has_one_moment_of_the_databases_clock(store: Store, clock: Callable[[], float]) -> None:
    before = clock()
    with store.write() as t:
        first = t.now
        t.change("INSERT INTO owners (id) VALUES ('me')")
        assert t.now == first
    with store.read() as t:
        assert t.now > first
    assert first < store.now()
    assert before <= first <= clock() + LATE


@pytest.mark.usefixtures("off")
@pytest.mark.parametrize("kind", BODIES)
def test_a_new_record_has_one_moment(kind: str, service: Service, clock: Callable[[], float]) -> None:
    before = clock()
    made = service("POST", kind, BODIES[kind])
    shown = service("GET", f"{kind}/{made['id']}")
    (listed,) = service("GET", kind)[kind]
    for one in (made, shown, listed):
        assert one["created_at"] == shown["created_at"]
        assert one.get("updated_at", one["created_at"]) == one["created_at"]
    assert before <= seconds(shown["created_at"]) <= clock() + LATE


@pytest.mark.usefixtures("off")
def test_what_happens_to_a_record_is_later_than_the_record(service: Service, clock: Callable[[], float]) -> None:
    webhook = service("POST", "webhooks", BODIES["webhooks"])
    network = service("POST", "networks", BODIES["networks"])
    again = service("PATCH", f"networks/{network['id']}", {"devices": [{"index": 0, "data": 7}]})
    assert network["updated_at"] < again["updated_at"]
    run = service("POST", "runs", BODIES["runs"])
    period = service("POST", f"runs/{run['id']}/aggregations", {"aggregation": 1, "gradient_norm": 1.0})
    shown = service("GET", f"runs/{run['id']}")
    assert run["created_at"] == shown["created_at"] < period["created_at"] == shown["updated_at"]
    validation = service("POST", "validations", BODIES["validations"])
    ended = service("POST", f"validations/{validation['id']}/cancel")
    assert validation["created_at"] < ended["finished_at"] == ended["updated_at"]
    events = service("GET", f"webhooks/{webhook['id']}/deliveries")["deliveries"]
    made = {one["id"]: one["created_at"] for one in (run, validation)}
    assert {one["event"] for one in events} == {
        "run.started",
        "run.aggregated",
        "validation.queued",
        "validation.cancelling",
        "validation.cancelled",
    }
    assert all(made[one["resource"]] <= one["created_at"] for one in events)
    assert max(seconds(one["created_at"]) for one in events) <= clock() + LATE


@pytest.mark.usefixtures("off")
def test_ages_of_queues_and_due_times_are_by_the_databases_clock(
    service: Service, store: Store, clock: Callable[[], float]
) -> None:
    service("POST", "webhooks", BODIES["webhooks"])
    begun = clock()
    service("POST", "validations", BODIES["validations"])
    waiting, now = ValidationStore(store).counts(), clock()
    assert waiting.parts.depth == waiting.deliveries.depth == 1
    assert 0 < waiting.parts.seconds <= now + LATE - begun
    assert 0 < waiting.deliveries.seconds <= now + LATE - begun
    webhooks = WebhookStore(store)
    delivery = webhooks.claim(3600)
    assert delivery is not None
    assert json.loads(delivery.body)["created_at"] <= now + LATE
    assert now <= delivery.begun_at <= clock() + LATE
    webhooks.failed(delivery, "500", 3600)
    assert webhooks.claim(3600) is None
    webhooks.failed(delivery, "500", 0)
    assert webhooks.claim(3600) is not None


def test_keys_are_made_used_and_expire_by_the_databases_clock(
    store: Store, off: float, clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = clock()
    ring = KeyRing(store)
    key, text = ring.create("one", expires_at=begun + abs(off) / 2)
    assert begun <= key.created_at <= clock() + LATE
    found = ring.find(text)
    assert found is not None
    assert not ring.has_expired(found)
    ring.used(found)
    ring.write_uses()
    (listed,) = KeyStore(store).all()
    assert listed.used_at is not None
    assert begun - LATE <= listed.used_at <= clock() + LATE
    assert KeyStore(store).delete_expired(0) == 0
    monotonic = time.monotonic
    monkeypatch.setattr("app.keys.ring.time.monotonic", lambda: monotonic() + abs(off))
    assert ring.has_expired(found)


def test_no_record_goes_back_when_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(f"sqlite:///{tmp_path}/fedsift.db")
    network = service("POST", "networks", BODIES["networks"])
    run = service("POST", "runs", BODIES["runs"])
    validation = service("POST", "validations", BODIES["validations"])
    right = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda clock: right(clock) - 3600)
    again = service("PATCH", f"networks/{network['id']}", {"devices": [{"index": 0, "data": 7}]})
    assert again["updated_at"] >= network["created_at"]
    period = service("POST", f"runs/{run['id']}/aggregations", {"aggregation": 1, "gradient_norm": 1.0})
    assert period["created_at"] >= run["created_at"]
    assert service("GET", f"runs/{run['id']}")["updated_at"] >= run["created_at"]
    assert ValidationStore(service.app.state.service.store).counts().parts.seconds == 0
    ended = service("POST", f"validations/{validation['id']}/cancel")
    assert validation["created_at"] <= ended["finished_at"] <= ended["updated_at"]
    service.app.state.service.store.close()


def clocks_in(path: Path) -> set[str]:
    """The wall clocks that a module of Python reads, and those in its SQL."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        return set(re.findall(SQL, text))
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"} & CLOCKS
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & CLOCKS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(SQL, node.value))
    return found


SQL = r"(?i)\b(?:now\(\)|clock_timestamp|\w+_timestamp\b(?=\(\))|current_timestamp|unixepoch|julianday|strftime)"
CLOCKS = {
    f"time.{name}" for name in ("time", "time_ns", "clock_gettime", "clock_gettime_ns", "gmtime", "localtime")
} | {f"{name}.{call}" for name in ("datetime", "date") for call in ("now", "utcnow", "today")}


def test_only_listed_modules_read_a_wall_clock() -> None:
    root = Path(app.__file__).parent
    reading = {
        str(path.relative_to(root)): clocks_in(path) for path in root.rglob("*") if path.suffix in {".py", ".sql"}
    }
    reading = {name: clocks for name, clocks in reading.items() if clocks}
    assert reading.pop("store/postgres.py") == {"clock_timestamp"}  # the clock of the server
    assert reading.keys() == READS_A_CLOCK.keys(), reading
