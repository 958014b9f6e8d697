"""Workers as processes of their own, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crew import Crew


@pytest.fixture
def crew(database_url: str, tmp_path: Path) -> Iterator[Crew]:
    with Crew(database_url, tmp_path) as made:
        yield made
