"""Each example problem of the document is what the operation itself answers, word for word."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from app.main import create_app
from app.networks.archived import NPZ
from app.openapi.examples import REQUESTS
from app.settings import Settings

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))
NOBODYS = "0" * 32
# How each operation is called so that one rule is broken.
WRONG: dict[str, dict[str, Any]] = {
    "createPlan": {"body": {**REQUESTS["createPlan"], "sample_size": 4}},
    "createRun": {"body": {**REQUESTS["createRun"], "sample_size": 4}},
    "compare": {"body": {**REQUESTS["compare"], "sample_sizes": [1, 4]}},
    "aggregate": {"body": {"aggregation": 1, "gradient_norm": -1}},
    "createValidation": {"body": {**REQUESTS["createValidation"], "aggregations": 0}},
    "importFleet": {
        "body": {
            "files": [
                {"name": "devices.csv", "text": "id\ncam-1\n"},
                {"name": "links.csv", "text": "from,to\ncam-1,hub-3\n"},
            ]
        }
    },
    "createNetwork": {"body": {}},
    "patchNetwork": {"body": {"devices": [{"id": "cam-9", "data": 1}]}},
    "createWebhook": {"body": REQUESTS["createWebhook"]},
    "listDeliveries": {"query": "?limit=0"},
    "listNetworks": {"query": "?limit=0"},
    "listPlans": {"query": "?limit=0"},
    "listAggregations": {"query": "?limit=0"},
    "listRuns": {"query": "?limit=0"},
    "listValidations": {"query": "?limit=0"},
}
# The `parameters` of archives, so that what they ask for is kept; and what breaks a rule.
PARAMETERS: dict[str, dict[str, Any]] = {
    "createBinaryPlan": {"sample_size": 1, "horizon": 2, "keep": True},
    "createBinaryRun": {"sample_size": 1, "horizon": 2},
    "createBinaryNetwork": {},
}


def cases() -> list[Any]:
    return [
        pytest.param(path, method, operation, status, id=f"{operation['operationId']}-{status}")
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
        for status, answer in operation["responses"].items()
        if "application/problem+json" in answer.get("content", {})
    ]


class Caller:
    """Calls one operation of an application in this process, each time in a way that is answered with a problem."""

    def __init__(self, folder: Path, path: str, method: str, operation: dict[str, Any]) -> None:
        self.folder = folder
        self.path = path
        self.method = method.upper()
        self.name = operation["operationId"]
        self.type = NPZ if self.name.startswith("createBinary") else "application/json"
        self.reads = "requestBody" in operation

    async def provoke(self, status: str) -> httpx.Response:
        provoked: httpx.Response = await getattr(self, f"provoke_{status}")()
        return provoked

    async def provoke_400(self) -> httpx.Response:
        app = self.app()
        return await self.send(app, self.method, await self.place(app), b'{\n  "horizon": 4,\n}')

    async def provoke_401(self) -> httpx.Response:
        return await self.call(self.app(auth="required"))

    async def provoke_403(self) -> httpx.Response:
        app = self.app(auth="required", gateway_header="X-Owner", gateway_secret="ours")
        _, key = app.state.service.keys.create("mine", scope="read")
        named = {"X-Owner": "me", "X-Fedsift-Gateway-Secret": "ours"} if self.method == "GET" else {}
        return await self.call(app, **{"X-API-Key": key}, **named)

    async def provoke_404(self) -> httpx.Response:
        return await self.call(self.app(metrics="off"), content=json.dumps(REQUESTS.get(self.name, {})).encode())

    async def provoke_408(self) -> httpx.Response:
        async def slowly() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.sleep(60)

        answer = await self.call(self.app(body_timeout=0.05), content=slowly())
        answer._content = answer.content.replace(b"within 0.05 seconds", b"within 30 seconds")
        return answer

    async def provoke_409(self) -> httpx.Response:
        app = self.app()
        if self.name in PARAMETERS:
            headers = {"Idempotency-Key": "mine"}
            await self.call(app, content=self.archive(), **headers)
            return await self.call(app, content=self.archive(name="another"), **headers)
        if self.name == "patchNetwork":
            place, body = await self.place(app), json.dumps(REQUESTS[self.name]).encode()
            await self.send(app, self.method, place, body)
            return await self.send(app, self.method, place, body)
        if self.name == "createWebhook":
            listed = self.app(webhook_targets=("hooks.example",))
            await self.call(listed, content=json.dumps(REQUESTS[self.name]).encode())
            return await self.call(listed, content=json.dumps(REQUESTS[self.name]).encode())
        if self.name.startswith("create"):
            headers = {"Idempotency-Key": "mine"}
            asked = {**REQUESTS[self.name], **({"keep": True} if self.name == "createPlan" else {})}
            await self.call(app, content=json.dumps(asked).encode(), **headers)
            return await self.call(app, content=json.dumps({**asked, "name": "another"}).encode(), **headers)
        if self.name == "deleteValidation":
            body = json.dumps(REQUESTS["createValidation"]).encode()
            kind = {"Content-Type": "application/json"}
            made = await self.send(app, "POST", "/v1/validations", body, **kind)
            return await self.send(app, "DELETE", made.headers["location"])
        place = await self.place(app)
        for norm in (0.5, 0.6):
            answer = await self.send(app, "POST", place, json.dumps({"aggregation": 1, "gradient_norm": norm}).encode())
        return answer

    async def provoke_413(self) -> httpx.Response:
        return await self.call(self.app(), **{"Content-Length": str(2**40)})

    async def provoke_415(self) -> httpx.Response:
        return await self.call(self.app(), **{"Content-Type": "text/plain"})

    async def provoke_422(self) -> httpx.Response:
        app = self.app()
        wrong = WRONG.get(self.name, {})
        if self.name == "createBinaryNetwork":
            return await self.call(app, content=self.archive(without="data"))
        if self.name in PARAMETERS:
            return await self.call(app, content=self.archive(sample_size=4))
        if "body" in wrong:
            return await self.send(app, self.method, await self.place(app), json.dumps(wrong["body"]).encode())
        if "query" in wrong:
            return await self.call(app, query=wrong["query"])
        return await self.call(app, query="?colour=1")

    async def provoke_429(self) -> httpx.Response:
        app = self.app(auth="required", queue=100)
        service = app.state.service
        record, key = service.keys.create("mine")
        with ExitStack() as stack:
            for _ in range(service.settings.key_concurrency):
                stack.enter_context(service.pool.request(record.owner))
            return await self.call(app, **{"X-API-Key": key})

    async def provoke_503(self) -> httpx.Response:
        if not self.reads:  # the store cannot be reached
            return await self.call(self.app(database_url="sqlite:////dev/null/fedsift.db"))
        app = self.app()
        pool = app.state.service.pool
        with ExitStack() as stack:
            for _ in range(app.state.service.settings.queue + app.state.service.settings.threads):
                stack.enter_context(pool.place())
            return await self.call(app)

    async def provoke_507(self) -> httpx.Response:
        place = await self.place(self.app())
        asked = {**REQUESTS.get(self.name, {}), **({"keep": True} if self.name == "createPlan" else {})}
        body = self.archive() if self.name in PARAMETERS else json.dumps(asked).encode()
        answer = await self.send(self.app(key_bytes=1024), self.method, place, body)
        # What is kept, and what comes to it, is this caller's own.
        words = rb"keep %d bytes, and %d more would pass the limit of %d "
        limit = Settings.model_construct().key_bytes
        told = re.sub(words.replace(b"%d", rb"\d+"), words % (limit - 1000, 4000, limit), answer.content)
        answer._content = told
        return answer

    def app(self, **settings: Any) -> FastAPI:
        chosen = {"auth": "off", "database_url": f"sqlite:///{self.folder}/fedsift.db", **settings}
        return create_app(Settings(**chosen))

    async def place(self, app: FastAPI) -> str:
        """The path, with a run or network that exists if it names one."""
        if "{network_id}" in self.path:
            made = await self.send(app, "POST", "/v1/networks", json.dumps(REQUESTS["createNetwork"]).encode())
            return self.path.replace("{network_id}", made.json()["id"])
        if "{run_id}" not in self.path:
            return self.path
        made = await self.send(app, "POST", "/v1/runs", json.dumps(REQUESTS["createRun"]).encode())
        return self.path.replace("{run_id}", made.json()["id"])

    def archive(self, without: str = "", **parameters: Any) -> bytes:
        network = REQUESTS["createPlan"]["network"]
        columns = {**network["devices"], **{k: v for k, v in network["topology"].items() if k != "kind"}}
        path = self.folder / "archive.npz"
        np.savez(
            path,
            allow_pickle=False,
            parameters=np.frombuffer(json.dumps({**PARAMETERS[self.name], **parameters}).encode(), np.uint8),
            **{name: np.array(column) for name, column in columns.items() if name != without},
        )
        return path.read_bytes()

    async def call(self, app: FastAPI, content: Any = None, query: str = "", **headers: str) -> httpx.Response:
        path = self.path + query
        for name, kind in (("plan_id", "plan"), ("run_id", "run"), ("validation_id", "val"), ("network_id", "net")):
            path = path.replace(f"{{{name}}}", f"{kind}_{NOBODYS}")
        path = path.replace("{webhook_id}", f"whk_{NOBODYS[:16]}")
        body = b"{}" if content is None and self.reads else content
        return await self.send(app, self.method, path.replace("{aggregation}", "1"), body, **headers)

    async def send(self, app: FastAPI, method: str, path: str, content: Any = None, **headers: str) -> httpx.Response:
        kind = {"Content-Type": self.type} if self.reads else {}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.request(method, path, content=content, headers={**kind, **headers})


@pytest.mark.parametrize(("path", "method", "operation", "status"), cases())
def test_the_example_problem_is_what_the_operation_answers(
    path: str, method: str, operation: dict[str, Any], status: str, tmp_path: Path
) -> None:
    answer = asyncio.run(Caller(tmp_path, path, method, operation).provoke(status))
    assert answer.status_code == int(status), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told.pop("request_id")
    assert told == operation["responses"][status]["content"]["application/problem+json"]["example"]
