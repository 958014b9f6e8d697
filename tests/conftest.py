"""One service for all tests of a process that need no settings of their own."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.server import Server, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made
