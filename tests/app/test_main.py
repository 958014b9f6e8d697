import asyncio
from importlib.metadata import version

import httpx

from app.main import create_app


def test_healthz_answers_with_the_version() -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/healthz")

    answer = asyncio.run(ask())
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": version("fedsift")}
