"""Both databases, a real PostgreSQL among them, and workers as processes of their own on each."""

import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crew import Crew
from tests.support.postgres import Postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    # Not in pytest's own folder: the database runs as another user, and a second pytest takes its rights there away.
    with tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def postgres_url(postgres_server: Postgres) -> str:
    return postgres_server.create(f"t{secrets.token_hex(6)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/fedsift.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def crew(database_url: str, tmp_path: Path) -> Iterator[Crew]:
    with Crew(database_url, tmp_path) as made:
        yield made
