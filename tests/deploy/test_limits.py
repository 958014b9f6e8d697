"""The numbers of the manifests beside those of the code: memory, grace periods, timeouts of probes, tags of images."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.http.executors import QUICK_SECONDS
from app.operations.health import is_ready
from app.settings import Settings
from app.worker.supervisor import EXTRA_SECONDS

SOURCES = Path(__file__).parents[2]
DEFAULTS = Settings.model_construct()
DOCKERFILE = (SOURCES / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((SOURCES / "deploy" / "compose.yaml").read_text(encoding="utf-8"))["services"]
# A service finishes its requests. A supervisor waits for its workers, and for a moment more before it kills them.
GRACE = {"serve": DEFAULTS.shutdown_grace, "worker": DEFAULTS.shutdown_grace + EXTRA_SECONDS}
# The probe of `serve` gives up by itself after so long; that of `worker` waits for nothing but its own start.
PROBE = {"serve": inspect.signature(is_ready).parameters["timeout"].default, "worker": 5.0}
UNITS = {"M": 10**6, "G": 10**9, "Mi": 2**20, "Gi": 2**30}


def pod(name: str) -> dict[str, Any]:
    text = (SOURCES / "deploy" / "kubernetes" / f"{name}.yaml").read_text(encoding="utf-8")
    (found,) = (one["spec"]["template"]["spec"] for one in yaml.safe_load_all(text) if one["kind"] == "Deployment")
    return dict(found)


def size(written: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(\w+)", written).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def seconds(written: str) -> float:
    return float(written.removesuffix("s"))


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_whoever_is_told_to_stop_has_the_time_it_takes(name: str) -> None:
    (container,) = pod(name)["containers"]
    wait = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep(0)"])[-1]
    before = float(re.findall(r"sleep\((\d+)\)", wait)[0])
    assert pod(name)["terminationGracePeriodSeconds"] >= before + GRACE[name] + 5
    assert seconds(COMPOSE[name]["stop_grace_period"]) >= GRACE[name] + 5


def test_a_server_has_the_memory_that_it_promises_to_requests() -> None:
    (container,) = pod("serve")["containers"]
    # The request is for a server at rest. Estimates may be wrong by a quarter (docs/reliability.md).
    at_rest = size(container["resources"]["requests"]["memory"])
    promised = DEFAULTS.processes * (at_rest + 1.25 * DEFAULTS.memory_budget)
    assert size(container["resources"]["limits"]["memory"]) >= promised
    assert size(COMPOSE["serve"]["deploy"]["resources"]["limits"]["memory"]) >= promised


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_probes_wait_longer_than_what_they_ask(name: str) -> None:
    in_image = DOCKERFILE.partition(f"FROM image AS {name}\n")[2].partition("FROM ")[0]
    for timeout in (re.findall(r"--timeout=(\d+s)", in_image)[0], COMPOSE[name]["healthcheck"]["timeout"]):
        assert seconds(timeout) > PROBE[name]
    (container,) = pod(name)["containers"]
    if name == "serve":
        assert container["readinessProbe"]["timeoutSeconds"] > QUICK_SECONDS
    else:
        assert container["livenessProbe"]["timeoutSeconds"] > PROBE[name]


def test_no_image_has_a_tag_that_floats() -> None:
    engine = (SOURCES / "deploy" / "image" / "engine.py").read_text(encoding="utf-8")
    bases = re.findall(r"docker\.io/library/python:[\w.-]+", DOCKERFILE + engine)
    assert len({*bases}) == 1
    images = [re.sub(r"\$\{[A-Z_]+:-(.*?)\}", r"\1", service["image"]) for service in COMPOSE.values()]
    images += [container["image"] for name in GRACE for container in pod(name)["containers"]]
    for image in [*bases, *images]:
        assert re.fullmatch(r"[\w./-]+:(\d+\.\d+\.\d+(-[a-z-]+)?|18\.\d+)", image), image
    assert {base for base in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) if "/" in base} == set()
