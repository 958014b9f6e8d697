"""The images as they will be run: read-only, as anybody, within their sizes, in time, and out in order."""

import json
import time

import httpx
import pytest

from app.openapi.examples import REQUESTS
from tests.support.containers import IMAGE, Containers
from tests.support.server import free_port

pytestmark = [pytest.mark.image, pytest.mark.xdist_group("image")]

MEGABYTE = 1_000_000
LIMITS = {"serve": 450 * MEGABYTE, "worker": 1500 * MEGABYTE}
START_SECONDS = 5.0
# What an intruder would look for first, and what only building needs.
ABSENT = ("apt-get", "bash", "cc", "dpkg", "gcc", "ld", "make", "pip", "pip3", "sh", "strip")


@pytest.mark.parametrize("target", sorted(LIMITS))
def test_sizes(containers: Containers, target: str) -> None:
    size = int(containers.call("image", "inspect", "--format", "{{.Size}}", f"{IMAGE}:{target}"))
    print(f"{target}: {size / MEGABYTE:.0f} MB")
    assert size <= LIMITS[target]


@pytest.mark.parametrize("target", sorted(LIMITS))
def test_labels_user_and_commands(containers: Containers, target: str) -> None:
    found = json.loads(containers.call("image", "inspect", f"{IMAGE}:{target}"))[0]
    settings = found["Config"]
    assert settings["User"] == "10001:0"
    assert settings["Entrypoint"] == ["/opt/fedsift/bin/fedsift"]
    assert settings["Cmd"] == [target]
    assert "/data" in settings["Volumes"]
    labels = settings["Labels"]
    for name in ("created", "description", "licenses", "revision", "title", "version"):
        assert labels[f"org.opencontainers.image.{name}"]


@pytest.mark.parametrize("target", sorted(LIMITS))
def test_nothing_to_build_or_break_in_with(containers: Containers, target: str) -> None:
    script = f"import shutil; print([name for name in {ABSENT} if shutil.which(name)])"
    python = "/opt/fedsift/bin/python"
    assert containers.run(target, "-c", script, entrypoint=python) == "[]"
    torch = containers.run(
        target, "-c", "import importlib.util as u; print(u.find_spec('torch') is not None)", entrypoint=python
    )
    assert torch == str(target == "worker")


def test_serve_and_worker_together(containers: Containers) -> None:
    key = json.loads(containers.run("serve", "keys", "create", "test", "--json"))["key"]
    port = str(free_port())
    begin = time.perf_counter()
    serve = containers.run("serve", mode="--detach", port=port)
    while not containers.is_healthy(serve):
        assert time.perf_counter() - begin < 60, containers.call("logs", serve)
        time.sleep(0.05)
    took, busy = time.perf_counter() - begin, containers.processor_seconds(serve)
    print(f"healthy after {took:.1f} s, of which its processor was busy {busy:.1f} s")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": key}, timeout=60) as client:
        for solver in ("fast", "cvxpy"):
            plan = client.post("/v1/plans", json={**REQUESTS["createPlan"], "solver": solver})
            assert plan.status_code == 200, plan.text
            assert plan.json()["status"] == "optimal"
        worker = containers.run("worker", mode="--detach")
        validation = client.post("/v1/validations", json=REQUESTS["createValidation"]).json()
        while validation["state"] in {"queued", "running"}:
            assert time.perf_counter() - begin < 240, containers.call("logs", worker)
            time.sleep(0.2)
            validation = client.get(f"/v1/validations/{validation['id']}").json()
        assert validation["state"] == "succeeded", validation
        print(f"validated after {time.perf_counter() - begin:.1f} s in all")
    for container in (worker, serve):
        begin = time.perf_counter()
        assert containers.stop(container) == 0
        assert time.perf_counter() - begin < 10, "it did not stop when told to"
        assert '"level": "error"' not in containers.call("logs", container)
    # Where others keep the processors busy, what counts is how long it needed one.
    assert min(took, busy) <= START_SECONDS
