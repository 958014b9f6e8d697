"""Install the wheel in a fresh environment and use it: `python installed.py DIST`.

- Base: plan with the library; a command whose extra is missing names the extra.
- Then with `serve` and `worker`: start `fedsift serve` in an empty folder, ask it for plans, a validation and the
  guide, stop it.

Both installations have a largest size. It is what `du -sm` prints; pip itself is not part of it.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SOURCES = Path(__file__).parents[2]
BASE_LIMIT, SERVED_LIMIT = 475, 700
PATIENCE = 1800.0  # seconds; compiling the kernels takes a minute of a processor that may be busy
LIBRARY = """
import numpy as np
from sampler import SamplingProblem, find_sampler
from solver import Schedule, plan_offloading
from solver.instances import random_network

network = random_network(np.random.default_rng(0), 12)
chosen = find_sampler("greedy")(SamplingProblem.of(Schedule.of(network), 2), np.random.default_rng(0)).sampled
plan = plan_offloading(network, chosen, horizon=3)
print("planned with the library:", plan.status, sorted(int(i) for i in chosen))
"""
PLAN = {
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


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def install(environment: Path, wheel: Path, extras: str, limit: int) -> None:
    """Install the wheel with these extras, and compare the environment's size with the limit."""
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--constraint", str(SOURCES / "constraints.txt"), f"{wheel}{extras}"], check=True)  # noqa: S603
    du = subprocess.run(["du", "-sm", str(environment)], capture_output=True, text=True, check=True)  # noqa: S603, S607
    size = int(du.stdout.split()[0])
    say(f"fedsift{extras} installs {size} MB (limit {limit})")
    if size > limit:
        raise SystemExit(f"fedsift{extras} is too large")


def outside(folder: Path) -> dict[str, str]:
    """The variables of this process, without those that would lead back into the sources or an existing database."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FEDSIFT_", "PYTHON", "XDG_"))}
    given = {"HOME": str(folder), "NUMBA_CACHE_DIR": str(folder.parent / "kernels"), "FEDSIFT_LOG_LEVEL": "warning"}
    return {**kept, **given}


def check_base(environment: Path, folder: Path) -> None:
    """Plan in Python; be told which extra `fedsift serve` needs."""
    python = str(environment / "bin" / "python")
    subprocess.run([python, "-c", LIBRARY], cwd=folder, env=outside(folder), check=True)  # noqa: S603
    command = [str(environment / "bin" / "fedsift"), "serve"]
    refused = subprocess.run(command, cwd=folder, env=outside(folder), capture_output=True, text=True, check=False)  # noqa: S603
    if refused.returncode != 2 or "fedsift[serve]" not in refused.stderr or refused.stderr.count("\n") != 1:
        raise SystemExit(f"`fedsift serve` without its extra: {refused.returncode}, {refused.stderr}")
    say(f"without the extra: {refused.stderr.strip()}")


def answer(port: int, path: str, body: object = None) -> dict[str, object]:
    """What the service answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:  # noqa: S310
        found: dict[str, object] = json.load(response)
        return found


def check_served(environment: Path, folder: Path) -> None:
    """Start the service with a worker, ask both solvers for a plan, see a validation through, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(environment / "bin" / "fedsift"), "serve", "--port", str(port), "--workers", "1"]
    server = subprocess.Popen(command, cwd=folder, env=outside(folder))  # noqa: S603
    try:
        wait_until_ready(server, port)
        for solver in ("fast", "cvxpy"):
            plan = answer(port, "/v1/plans", {**PLAN, "solver": solver})
            if plan["status"] != "optimal":
                raise SystemExit(f"no plan: {plan}")
            say(f"planned with the service, solver {solver}: {plan['status']} {plan['sampled']}")
        follow_validation(port)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/guide", timeout=60) as guide:  # noqa: S310
            say(f"the guide has {len(guide.read())} bytes at {guide.url.partition(str(port))[2]}")
    finally:
        server.terminate()
        status = server.wait(120)
    if status != 0:
        raise SystemExit(f"the service ended with status {status}")


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Wait for /readyz; the first start compiles the kernels."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            answer(port, "/readyz")
        except OSError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the service does not become ready: {error}") from error
            time.sleep(0.5)
        else:
            return


def follow_validation(port: int) -> None:
    """Have the worker train a little."""
    validation = answer(port, "/v1/validations", VALIDATION)
    deadline = time.monotonic() + PATIENCE
    while validation["state"] in {"queued", "running"} and time.monotonic() < deadline:
        time.sleep(0.5)
        validation = answer(port, f"/v1/validations/{validation['id']}")
    if validation["state"] != "succeeded":
        raise SystemExit(f"the validation did not succeed: {validation}")
    say("validated with the worker: succeeded")


def main(dist: Path) -> None:
    """Check the base, then the service; one environment, so that the kernels are compiled once."""
    (wheel,) = dist.resolve().glob("*.whl")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        environment, folder = Path(made) / "environment", Path(made) / "empty"
        folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)  # noqa: S603
        install(environment, wheel, "", BASE_LIMIT)
        check_base(environment, folder)
        install(environment, wheel, "[serve,worker]", SERVED_LIMIT)
        check_served(environment, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
