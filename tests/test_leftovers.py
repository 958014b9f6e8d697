"""What tests start does not outlive them, and no test leaves anything behind in its process."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.waiting import lives, until

ROOT = Path(__file__).parents[1]
STARTER = """
import pathlib, sys, time
from tests.support.postgres import Postgres
server = Postgres(pathlib.Path(sys.argv[1]))
server.start()
print(server.process.pid, flush=True)
time.sleep(600)
"""


def test_a_database_server_ends_with_the_process_that_started_it() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([sys.executable, "-c", STARTER, folder], cwd=ROOT, stdout=subprocess.PIPE) as starter,
    ):
        assert starter.stdout is not None
        server = int(starter.stdout.readline())
        assert lives(server)
        starter.send_signal(signal.SIGKILL)
        until(lambda: not lives(server))
