"""Stored networks and lists with a live service."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from fedsift_client import AsyncClient, Client, NotFoundError, operations
from tests.support.fleets import FLEET
from tests.support.requests import random_request
from tests.support.server import Server


def test_a_fleet_is_stored_changed_and_planned_for_by_its_id(server: Server) -> None:
    with Client(server.url) as client:
        stored = client.store_network(FLEET, name="campus", labels={"test": "stored"})
        assert (stored["version"], stored["kind"]) == (1, "fleet")
        changed = client.change_network(stored["id"], devices=[{"id": "cam-1", "load": 0.9}])
        assert changed["version"] == 2
        loads = [client.network(stored["id"], version)["fleet"]["devices"][1].get("load") for version in (1, None)]
        assert loads == [FLEET["devices"][1].get("load"), 0.9]
        plan = client.plan(stored["id"], sample_size=1, horizon=2, keep=True, labels={"test": "stored"})
        assert plan.answer["network_version"] == 2
        for kind, made in (("networks", stored["id"]), ("plans", plan.id)):
            assert [one["id"] for one in client.listed(kind, labels={"test": "stored"})] == [made]  # type: ignore[arg-type]
        assert client.listed("networks", name="another") == []
        client.delete_network(stored["id"])
        with pytest.raises(NotFoundError):
            client.network(stored["id"])


def test_an_archive_is_stored_too(server: Server, tmp_path: Path) -> None:
    network = random_request(3, 10)["network"]
    links = {name: value for name, value in network["topology"].items() if name != "kind"}
    path = tmp_path / "network.npz"
    np.savez(path, **{name: np.asarray(value) for name, value in (network["devices"] | links).items()})  # type: ignore[arg-type]

    async def stored() -> tuple[str, list[str]]:
        async with AsyncClient(server.url) as client:
            made = await client.store_network(path, labels={"test": "archive"})
            version = await client.change_network(made["id"], remove_devices=[{"index": 9}])
            assert version["n_devices"] == 9
            listed = await client.listed("networks", labels={"test": "archive"})
            assert (await client.network(made["id"], 1))["n_devices"] == 10
            await client.delete_network(made["id"])
            return made["id"], [one["id"] for one in listed]

    made, listed = asyncio.run(stored())
    assert listed == [made]


def test_a_list_has_all_pages(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_PAGE", 2)
    asked = random_request(3, 4, horizon=1, keep=True, labels={"test": "pages"})
    with server.client() as http, Client(server.url) as client:
        made = [http.post("/v1/plans", json=asked).raise_for_status().json()["id"] for _ in range(3)]
        assert [one["id"] for one in client.listed("plans", labels={"test": "pages"})] == made
