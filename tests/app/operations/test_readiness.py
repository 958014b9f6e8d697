"""On a terminal the service says where to open it, once it is ready; elsewhere it does not."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.store import Store
from tests.support.command import FEDSIFT, environment
from tests.support.kernels import compile_kernels
from tests.support.server import Server, free_port


@contextmanager
def on_a_terminal(folder: Path, **settings: str) -> Iterator[tuple[str, Iterator[str]]]:
    """A server whose standard error is a terminal: its address, and what it writes there, line by line.

    The database is there before: a server says that it makes a new one.
    """
    Store(f"sqlite:///{folder}/fedsift.db", 60).check()
    compile_kernels()
    port = free_port()
    command = [*FEDSIFT, "serve", "--port", str(port)]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, env=environment(folder, **settings), stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        with os.fdopen(ours, encoding="utf-8") as terminal:
            yield f"http://127.0.0.1:{port}", (line.rstrip() for line in terminal)
    finally:
        process.terminate()
        process.wait(60)


def test_on_a_terminal_it_says_where_to_open_it_and_logs_for_people(tmp_path: Path) -> None:
    for processes in ("1", "2"):
        with on_a_terminal(tmp_path, processes=processes) as (url, lines):
            first = next(lines)
            assert first == f"fedsift is ready: {url}/ (guide: /guide, API: /docs)"
            assert httpx.get(f"{url}/readyz", timeout=60).status_code == 200
            assert re.fullmatch(r"\d\d:\d\d:\d\d info    request method=GET route=/readyz status=200 .*", next(lines))


def test_a_setting_asks_for_json_on_a_terminal(tmp_path: Path) -> None:
    with on_a_terminal(tmp_path, log_format="json") as (_, lines):
        assert json.loads(next(lines))["level"] == "info"


def test_elsewhere_all_lines_are_json(server: Server) -> None:
    assert all(json.loads(line) for line in server.log.read_text().splitlines())
