"""Run the image's own commands once while it is built: `python warm.py serve|worker`.

This compiles every kernel and every imported module into the image: its root is read-only when it runs. It also proves
that the image is complete: a missing library fails the build, not the first request.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from processor_kind import kinds_here

PORT = 8971
REQUEST = {
    "network": {
        "devices": {
            "data": [600, 580, 610],
            "processing_capacity": [2000, 900, 1200],
            "processing_cost": [0.8, 1.0, 0.9],
            "receive_capacity": [200, 100, 150],
            "transmit_budget": [80, 60, 70],
        },
        "topology": {
            "kind": "links",
            "source": [1, 2],
            "target": [0, 0],
            "similarity": [0.4, 0.1],
            "transmit_cost": [0.5, 0.7],
        },
    },
    "sample_size": 1,
    "horizon": 2,
}
VALIDATION = {
    "source": {"kind": "generator", "devices": 6, "mean_datapoints": 20, "link_probability": 0.5},
    "schemes": ["heuristic-offload"],
    "sample_size": 2,
    "aggregations": 1,
}


def run(*command: str, kind: str | None = None) -> None:
    """Run a command of the console script, with kernels for this kind of processor."""
    fedsift = str(Path(sys.executable).with_name("fedsift"))
    environment = os.environ if kind is None else {**os.environ, "NUMBA_CPU_NAME": kind}
    subprocess.run([fedsift, *command], check=True, env=environment)  # noqa: S603


def answer(path: str, body: object = None) -> bytes:
    """The body of the service's answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:  # noqa: S310
        return bytes(response.read())


def warm_kernels() -> str:
    """Compile the service's kernels for every kind of processor; returns what numba tells of its cache."""
    told = ""
    for kind in kinds_here():
        environment = {**os.environ, "NUMBA_CPU_NAME": kind, "NUMBA_DEBUG_CACHE": "1"}
        command = [sys.executable, "-P", "-m", "sampler.warm_up"]
        told += subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603
    return told


def remove_unloaded_kernels() -> None:
    """Remove compiled code that the service does not load: a function that only kernels call is a part of theirs."""
    loaded = set(re.findall(r"data loaded from '(.+\.nbc)'", warm_kernels()))
    assert loaded, "numba loaded nothing from its cache"  # noqa: S101 - the build stops here
    for code in Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"):
        if str(code) not in loaded:
            code.unlink()


def warm_service(workers: int) -> None:
    """Ask the running service for a plan by each solver; with workers, also for a validation, and wait for its end."""
    warm_kernels()
    if not workers:  # a trainer loads others
        remove_unloaded_kernels()
    run("keys", "create", "warm")
    command = [str(Path(sys.executable).with_name("fedsift")), "serve", "--host", "127.0.0.1", "--port", str(PORT)]
    server = subprocess.Popen(command, env={**os.environ, "FEDSIFT_WORKERS": str(workers)})  # noqa: S603
    try:
        for _ in range(600):
            try:
                answer("/readyz")
                break
            except OSError:
                time.sleep(0.1)
        for solver in ("fast", "cvxpy"):
            plan = json.loads(answer("/v1/plans", {**REQUEST, "solver": solver}))
            assert plan["status"] == "optimal", plan  # noqa: S101 - the build stops here
        answer("/v1/runs", REQUEST)
        answer("/v1/plans", {**REQUEST, "dry_run": True})
        validation = json.loads(answer("/v1/validations", VALIDATION))
        while workers and validation["state"] in {"queued", "running"}:
            time.sleep(0.5)
            validation = json.loads(answer(f"/v1/validations/{validation['id']}"))
        assert validation["state"] == ("succeeded" if workers else "queued"), validation  # noqa: S101
        answer("/openapi.json")
        answer("/docs")
        answer("/metrics")
        subprocess.run(
            [sys.executable, "-P", "-m", "app.operations.health"],
            check=True,
            env={**os.environ, "FEDSIFT_PORT": str(PORT)},
        )
    finally:
        server.terminate()
        server.wait(60)


def warm_worker() -> None:
    """Train a little: every model with the compiled engine for every kind of processor, and one with torch."""
    small = ("--devices", "6", "--sample-size", "2", "--link-probability", "0.5", "--mean-datapoints", "20")
    command = ("simulate", *small, "--schemes", "heuristic-offload,all", "--aggregations", "1", "--plots", "plots")
    run(*command, "--model", "cnn", "--engine", "torch")
    for kind in kinds_here():
        for model in ("softmax", "mlp", "cnn"):
            run(*command, "--model", model, "--engine", "compiled", kind=kind)


if __name__ == "__main__":
    # What a process writes there while it ends must not fail the build.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["FEDSIFT_DATABASE_URL"] = f"sqlite:///{folder}/fedsift.db"
        os.environ["HOME"] = folder
        os.chdir(folder)
        if sys.argv[1] == "worker":
            warm_worker()
        warm_service(workers=int(sys.argv[1] == "worker"))
