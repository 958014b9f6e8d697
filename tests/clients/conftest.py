"""Where the generated clients are, and a service that asks for keys to try them on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import make_key
from tests.support.server import running_server


@pytest.fixture(scope="session")
def build() -> Path:
    named = os.environ.get("FEDSIFT_TEST_CLIENTS")
    if not named:
        pytest.skip("needs generated clients: `make test-clients`")
    return Path(named)


@pytest.fixture(scope="session")
def service(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The address and a key, as programs take them."""
    folder = tmp_path_factory.mktemp("service")
    key = make_key(folder, "client")["key"]
    with running_server(folder, auth="required", workers="1") as server:
        yield [server.url, key]
