"""Comparisons with a live service."""

import asyncio

import pytest

from fedsift_client import AsyncClient, Client, InputError
from tests.support.fleets import FLEET
from tests.support.server import Server

LISTS = {"samplers": ["heuristic", "random"], "seeds": [0, 1]}


def test_rows_and_groups_come_as_lists_and_as_frames(server: Server) -> None:
    with Client(server.url) as client:
        compared = client.compare(FLEET, sample_sizes=[1, 2], horizon=2, **LISTS)
        with pytest.raises(InputError, match="store it with `store_network`"):
            client.compare("network.npz", sample_sizes=[1], horizon=2)
    assert compared.complete
    assert [row["sampler"] for row in compared.rows] == ["heuristic", "heuristic", "random", "random"] * 2
    frame, groups = compared.frame(), compared.group_frame()
    assert frame["objective"].tolist() == [row["objective"] for row in compared.rows]
    assert frame["difference.tied"].tolist()[:2] == [True, True]
    assert groups["objective.mean"].tolist() == [group["objective"]["mean"] for group in compared.groups]

    async def again() -> list[float]:
        async with AsyncClient(server.url) as other:
            found = await other.compare(FLEET, sample_sizes=(1, 2), horizon=2, **LISTS)
        return [row["objective"] for row in found.rows]

    assert asyncio.run(again()) == [row["objective"] for row in compared.rows]
