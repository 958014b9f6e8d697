"""What a server answers beyond each limit: every limit is set low, passed, and the answer is kept as it came."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from app.settings import Settings
from benchmarks.chaos.exchange import PLAN, validation
from benchmarks.service_process import fedsift_server

__all__ = ["beyond"]

Answer = httpx.Response
LOW = 1024


@dataclass(frozen=True)
class Limit:
    """A setting, a low value for it, what passes it, and in words what that is."""

    setting: str
    low: str
    passed: str
    ask: Callable[[httpx.Client], Answer]
    others: tuple[tuple[str, str], ...] = ()
    with_key: bool = False


def _post(path: str, body: Any, **headers: str) -> Callable[[httpx.Client], Answer]:
    return lambda client: client.post(path, json=body, headers=headers)


def _validate_twice(client: httpx.Client) -> Answer:
    client.post("/v1/validations", json=validation(1)).raise_for_status()
    return client.post("/v1/validations", json=validation(2))


def _at_once(given: httpx.Client) -> Answer:
    """Several slow plans at once; the first answer that is no plan."""

    async def ask() -> list[Answer]:
        async with httpx.AsyncClient(base_url=given.base_url, headers=given.headers, timeout=60) as client:
            return await asyncio.gather(*(client.post("/v1/plans", json=_long_plan()) for _ in range(6)))

    answers = asyncio.run(ask())
    return next((one for one in answers if one.status_code != 200), answers[0])


def _long_plan(time_limit: float | None = 1.5) -> dict[str, Any]:
    """A plan that takes about as long as its time limit: a search among more sets than there is time for."""
    limited = {} if time_limit is None else {"time_limit": time_limit}
    return {**_network(60), "sample_size": 30, "horizon": 100, "sampler": "local_search", **limited}


def _network(n: int) -> dict[str, Any]:
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    ones = [1.0] * len(source)
    each = {
        "data": 600,
        "processing_capacity": 2000,
        "processing_cost": 1,
        "receive_capacity": 200,
        "transmit_budget": 50,
    }
    devices = {name: [float(value)] * n for name, value in each.items()}
    links = {
        "source": source.tolist(),
        "target": target.tolist(),
        "similarity": [0.1] * len(ones),
        "transmit_cost": ones,
    }
    return {"network": {"devices": devices, "topology": {"kind": "links", **links}}}


@contextmanager
def _held(url: httpx.URL, count: int) -> Iterator[None]:
    """Connections that stay open, each with a body under way."""
    head = (
        b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    made = [socket.create_connection((url.host, url.port or 80)) for _ in range(count)]
    for one in made:
        one.sendall(head)
    try:
        yield
    finally:
        for one in made:
            one.close()


def _crowded(client: httpx.Client) -> Answer:
    with _held(client.base_url, 2):
        time.sleep(0.5)
        return client.get("/healthz")


COMPARISON = {
    **{k: v for k, v in PLAN.items() if k != "sample_size"},
    "samplers": ["greedy"],
    "sample_sizes": [1, 2, 3],
}
LIMITS = (
    Limit("body_limit", str(LOW), "a larger body", _post("/v1/plans", _network(20))),
    Limit(
        "memory_budget", str(2**20), "a request that needs more memory, by estimate", _post("/v1/plans", _network(200))
    ),
    Limit("head_limit", str(LOW), "longer headers", _post("/v1/plans", PLAN, **{"X-Long": "x" * 2 * LOW})),
    Limit("max_horizon", "20", "more steps", _post("/v1/plans", {**PLAN, "horizon": 21})),
    Limit("max_time_limit", "20", "a larger `time_limit`", _post("/v1/plans", {**PLAN, "time_limit": 21})),
    Limit(
        "max_reference_links", "1", "more links with `solver: cvxpy`", _post("/v1/plans", {**PLAN, "solver": "cvxpy"})
    ),
    Limit("comparison_rows", "2", "a comparison of more rows", _post("/v1/comparisons", COMPARISON)),
    Limit("time_limit", "0.05", "a search that does not end in time", _post("/v1/plans", _long_plan(None))),
    Limit("queue", "0", "more plans at once than threads and queue take", _at_once, (("threads", "1"),)),
    Limit("connections", "2", "more connections, all busy", _crowded),
    Limit("validation_devices", "5", "a validation of more devices", _post("/v1/validations", validation(1))),
    Limit("validation_parts", "1", "a validation of more parts", _post("/v1/validations", validation(1))),
    Limit("validation_rounds", "1", "a validation of more aggregations", _post("/v1/validations", validation(1))),
    Limit("validation_queue", "0", "more validations at once", _post("/v1/validations", validation(1))),
    Limit("key_concurrency", "1", "more requests of a key at once", _at_once, with_key=True),
    Limit("key_validations", "1", "more validations of a key at once", _validate_twice, with_key=True),
    Limit("key_bytes", str(LOW), "more bytes kept per key", _post("/v1/plans", {**PLAN, "keep": True})),
)


def beyond(*, smoke: bool) -> list[dict[str, Any]]:
    """A row for each limit, with the answer."""
    rows = []
    for limit in LIMITS[: 2 if smoke else None]:
        answer = _answer(limit)
        told = answer.json()
        if answer.is_success and told.get("sampler_status") != "time_limit":
            raise RuntimeError(f"{limit.setting} was not passed: {answer.status_code}")
        rows.append(
            {
                "setting": limit.setting,
                "default": _default(limit.setting),
                "passed": limit.passed,
                "tried_with": limit.low,
                "status": answer.status_code,
                "type": str(told.get("type", "")).rpartition(":")[2],
                "detail": _detail(told),
                "retry_after": answer.headers.get("retry-after", ""),
            }
        )
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def _answer(limit: Limit) -> Answer:
    """Pass the limit of a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"database_url": f"sqlite:///{folder}/fedsift.db", "processes": "1", limit.setting: limit.low}
        settings |= dict(limit.others)
        headers = {"X-API-Key": _key(settings["database_url"])} if limit.with_key else {}
        settings["auth"] = "required" if limit.with_key else "off"
        with (
            fedsift_server(**settings) as server,
            httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=60) as client,
        ):
            return limit.ask(client)


def _key(database_url: str) -> str:
    command = [sys.executable, "-c", "from app.cli import main; main()", "keys", "create", "capacity", "--json"]
    environment = {**os.environ, "FEDSIFT_DATABASE_URL": database_url}
    return str(json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)["key"])


def _detail(told: dict[str, Any]) -> str:
    """What the problem says, of its first broken rule if it lists them; of a plan how its search ended."""
    if told.get("errors"):
        return str(told["errors"][0]["detail"])
    return str(told.get("detail") or f"`sampler_status: {told.get('sampler_status')}`")


def _default(setting: str) -> str:
    field = Settings.model_fields[setting]
    return f"{field.default:,}" if isinstance(field.default, int) else f"{field.default:g}"
