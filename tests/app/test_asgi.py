"""What a server's process loads, seen in one of its own: this one has long loaded everything."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE

SCRIPT = """
import gc, sys
from fastapi.testclient import TestClient
from app.asgi import UNUSED, served_app
from app.plans.request import EXAMPLE

gc.disable()  # as the command does while it loads
app = served_app()
print("collects", gc.isenabled())
print("hidden", *(name for name in UNUSED if name in sys.modules))
with TestClient(app, base_url="http://localhost") as client:
    while not client.get("/readyz").json()["ready"]:
        pass
    print("loaded", *(name for name in ("scipy.linalg", "scipy.sparse", "pycparser") if name in sys.modules))
    for sampler in ("greedy", "gcn_branch", "local_search"):
        answer = client.post("/v1/plans", json={**EXAMPLE, "sampler": sampler})
        print(sampler, answer.status_code)
    print("dry run", client.post("/v1/plans", json={**EXAMPLE, "dry_run": True}).status_code)
import cffi, scipy.linalg.cython_blas
print("found again")
"""

FORKED = """
import threading
from app.asgi import warm_app
from app.ledger import Ledger

app = warm_app(Ledger(2))
print(app.state.service.solver, *(thread.name for thread in threading.enumerate()))
"""


def run(script: str, folder: Path) -> list[str]:
    """What the script prints, without log lines."""
    environment = {**os.environ, "FEDSIFT_DATABASE_URL": f"sqlite:///{folder}/x.db"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment
    )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("{")]


def test_before_a_fork_the_kernels_are_loaded_and_no_thread_was_started(tmp_path: Path) -> None:
    assert run(FORKED, tmp_path) == ["ok MainThread"]


def test_a_server_starts_without_what_its_kernels_do_not_use_and_finds_it_later(tmp_path: Path) -> None:
    samplers = [f"{name} 200" for name in ("greedy", "gcn_branch", "local_search")]
    assert run(SCRIPT, tmp_path) == ["collects True", "hidden", "loaded", *samplers, "dry run 200", "found again"]
