"""A real browser on a real server; skipped, visibly, where there is no Chromium.

Playwright keeps an event loop running in its process, in which no other test could run one. So these tests have a
process of their own, and are skipped, visibly, where others were collected with them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.support.server import Server, running_server
from tests.support.visit import CHROMIUM, Visit

# No name is ever looked up: nothing but this machine can be reached.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
HERE = Path(__file__).parent
SHOTS = HERE.parents[1] / "build" / "browser"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    if not ours or len(ours) == len(items):
        return
    reason = f"{len(ours)} tests with a browser need a process without others: `make test-browser`"
    ours[0].add_marker(pytest.mark.skip(reason=reason))
    config.hook.pytest_deselected(items=ours[1:])
    items[:] = [item for item in items if item not in ours[1:]]


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> None:
    """The browser's event loop is, and all tests of this process know."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("the browser tests need Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", OFFLINE, *QUIET]
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def studio_server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("studio"), workers="1") as running:
        yield running


@pytest.fixture
def visit(browser: Browser, studio_server: Server) -> Iterator[Visit]:
    """A visitor whose page may reach this server alone and may not log an error."""
    with Visit.to(browser, studio_server.url) as one:
        yield one


@pytest.fixture(scope="session")
def shots() -> Path:
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS
