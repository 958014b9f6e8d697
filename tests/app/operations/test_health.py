"""The health check of the serving container."""

import subprocess
import sys

from tests.support.server import Server, free_port


def probe(port: str) -> int:
    command = [sys.executable, "-m", "app.operations.health"]
    return subprocess.run(command, env={"FEDSIFT_PORT": port}, check=False).returncode


def test_a_ready_service_and_none(server: Server) -> None:
    assert probe(server.url.rpartition(":")[2]) == 0
    assert probe(str(free_port())) == 1


def test_the_probe_loads_nothing_heavy() -> None:
    script = "import app.operations.health, sys; print({'pydantic', 'fastapi', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
