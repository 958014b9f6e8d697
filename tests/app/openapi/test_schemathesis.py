"""Schemathesis on the live service with all of its checks: nothing in the document may prove wrong."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.command import make_key
from tests.support.server import Server, running_server

# Of each operation: `make test EXAMPLES=100` looks longer.
EXAMPLES = os.environ.get("EXAMPLES", "4")
CONFIGURATION = Path(__file__).parents[3] / "schemathesis.toml"
# Schemathesis does not know archives; to it they are bytes.
MAIN = """
import sys
import schemathesis
from schemathesis.cli import schemathesis as run
schemathesis.serializer.alias("application/vnd.fedsift.npz", "application/octet-stream")
sys.exit(run())
"""


def check(server: Server, folder: Path, *options: str) -> None:
    command = [sys.executable, "-c", MAIN, "--config-file", str(CONFIGURATION), "run", f"{server.url}/openapi.json"]
    limits = ["--checks", "all", "--max-examples", EXAMPLES, "--seed", "1", "--request-timeout", "30"]
    done = subprocess.run([*command, *limits, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert server.process.poll() is None
    assert '"level": "error"' not in server.log.read_text()


def test_without_keys(tmp_path: Path) -> None:
    with running_server(tmp_path, stream_seconds="0.5") as server:
        check(server, tmp_path)


def test_with_keys(tmp_path: Path) -> None:
    key = make_key(tmp_path, "schemathesis")["key"]
    with running_server(tmp_path, auth="required", stream_seconds="0.5") as server:
        # What bodies and answers are like does not depend on the key: the other test tries them.
        check(server, tmp_path, "-H", f"X-API-Key: {key}", "--phases", "examples,fuzzing")
