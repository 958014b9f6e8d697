"""One service for all tests of a process that need no settings of their own, and a look at what each leaves behind."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

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


def _state() -> tuple[object, ...]:
    # Libraries set variables of their own when they are imported.
    surroundings = {
        name: os.environ[name] for name in os.environ if name.startswith(("FEDSIFT_", "NUMBA_", "PYTHON", "XDG_"))
    }
    return surroundings, Path.cwd(), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """The next test finds this process as the last one did, and may run an event loop of its own."""
    before = _state()
    yield
    assert _state() == before
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
