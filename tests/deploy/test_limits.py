"""The numbers of the manifests beside those of the code: memory, grace periods, timeouts of probes, tags of images."""

import inspect
import re
import tomllib
from typing import Any

import pytest
import yaml

from app.http.executors import QUICK_SECONDS
from app.operations.health import is_ready
from app.settings import Settings
from app.worker.supervisor import EXTRA_SECONDS
from tests.support.manifests import DEPLOY, OVERLAYS, base, compose, environment, pods, rendered

DEFAULTS = Settings.model_construct()
DOCKERFILE = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = compose()["services"]
# A service finishes its requests. A supervisor waits for its workers, and for a moment more before it kills them.
GRACE = {"serve": DEFAULTS.shutdown_grace, "worker": DEFAULTS.shutdown_grace + EXTRA_SECONDS}
# The probe of `serve` gives up by itself after so long; that of `worker` waits for nothing but its own start.
PROBE = {"serve": inspect.signature(is_ready).parameters["timeout"].default, "worker": 5.0}
UNITS = {"M": 10**6, "G": 10**9, "Mi": 2**20, "Gi": 2**30}


def size(written: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(\w+)", written).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def seconds(written: str) -> float:
    return float(written.removesuffix("s"))


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_whoever_is_told_to_stop_has_the_time_it_takes(name: str) -> None:
    pod = pods(base())[name]
    before = pod["containers"][0].get("lifecycle", {"preStop": {"sleep": {"seconds": 0}}})["preStop"]["sleep"][
        "seconds"
    ]
    assert pod["terminationGracePeriodSeconds"] >= before + GRACE[name] + 5
    assert seconds(SERVICES[name]["stop_grace_period"]) >= GRACE[name] + 5


def promised(pod: dict[str, Any]) -> float:
    """The memory that a server may need by its settings."""
    (container,) = pod["containers"]
    given = {name: item["value"] for name, item in environment(pod).items() if "value" in item}
    processes = int(given["FEDSIFT_PROCESSES"])
    budget = int(given.get("FEDSIFT_MEMORY_BUDGET", DEFAULTS.memory_budget))
    # The request is for a server at rest. Estimates may be wrong by a quarter (docs/reliability.md).
    return processes * (size(container["resources"]["requests"]["memory"]) + 1.25 * budget)


def test_a_server_has_the_memory_that_it_promises_to_requests() -> None:
    pod = pods(base())["serve"]
    assert size(pod["containers"][0]["resources"]["limits"]["memory"]) >= promised(pod)
    assert size(SERVICES["serve"]["deploy"]["resources"]["limits"]["memory"]) >= promised(pod)
    assert SERVICES["serve"]["environment"]["FEDSIFT_PROCESSES"] == environment(pod)["FEDSIFT_PROCESSES"]["value"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_servers_of_every_site_have_the_memory_that_they_promise(overlay: str) -> None:
    pod = pods(rendered(overlay))["serve"]
    assert size(pod["containers"][0]["resources"]["limits"]["memory"]) >= promised(pod)


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_probes_wait_longer_than_what_they_ask(name: str) -> None:
    in_image = DOCKERFILE.partition(f"FROM image AS {name}\n")[2].partition("FROM ")[0]
    for timeout in (re.findall(r"--timeout=(\d+s)", in_image)[0], SERVICES[name]["healthcheck"]["timeout"]):
        assert seconds(timeout) > PROBE[name]
    (container,) = pods(base())[name]["containers"]
    if name == "serve":
        assert container["readinessProbe"]["timeoutSeconds"] > QUICK_SECONDS
    else:
        assert container["livenessProbe"]["timeoutSeconds"] > PROBE[name]


def test_no_image_has_a_tag_that_floats() -> None:
    version = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    engine = (DEPLOY / "image" / "engine.py").read_text(encoding="utf-8")
    (python,) = {*re.findall(r"docker\.io/library/python:[\w.-]+", DOCKERFILE + engine)}
    assert re.fullmatch(r"[\w./]+:\d+\.\d+\.\d+-slim-bookworm", python)
    kustomization = yaml.safe_load((DEPLOY / "kubernetes/base/kustomization.yaml").read_text(encoding="utf-8"))
    tags = {one["name"]: one["newTag"] for one in kustomization["images"]}
    assert tags == {"fedsift-serve": f"{version}-serve", "fedsift-worker": f"{version}-worker"}
    assert {pod["containers"][0]["image"] for pod in pods(base()).values()} == tags.keys()
    # Each may be fixed by a digest.
    images = [re.sub(r"\$\{[A-Z]+_DIGEST:-\}$", "", service["image"]) for service in SERVICES.values()]
    assert {image.rpartition(":")[2] for image in images} == {*tags.values(), "18.1"}
    assert {base for base in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) if "/" in base} == set()
