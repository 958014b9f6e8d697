"""Containers of the built images, and skips where there is no container engine."""

import os
from collections.abc import Iterator

import pytest

from tests.support.containers import Containers
from tests.support.image_scripts import load


@pytest.fixture
def containers() -> Iterator[Containers]:
    if not os.environ.get("FEDSIFT_TEST_IMAGE"):
        pytest.skip("needs built images and a container engine: `make image-test`")
    engine = load("engine").find_engine()
    assert engine is not None
    options = [*engine.run_options, *([] if "--network=host" in engine.run_options else ["--network=host"])]
    made = Containers(list(engine.runner), options)
    try:
        yield made
    finally:
        made.clean_up()
