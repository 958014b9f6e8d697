"""The manifests of deploy/: the base as its files say it, sites as kubectl makes them of it, and compose.yaml."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

__all__ = ["DEPLOY", "OVERLAYS", "base", "built", "compose", "environment", "named", "of_kind", "pods", "rendered"]

Object = dict[str, Any]

DEPLOY = Path(__file__).parents[2] / "deploy"
OVERLAYS = sorted(path.parent.name for path in (DEPLOY / "kubernetes" / "overlays").glob("*/kustomization.yaml"))


@cache
def base() -> list[Object]:
    """Every object of the base, before kustomize."""
    folder = DEPLOY / "kubernetes" / "base"
    files = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    return [one for name in files for one in yaml.safe_load_all((folder / name).read_text(encoding="utf-8")) if one]


@cache
def rendered(overlay: str) -> list[Object]:
    """Every object that `kubectl apply -k` would send for the overlay."""
    return built(DEPLOY / "kubernetes" / "overlays" / overlay)


def built(folder: Path) -> list[Object]:
    """Every object that kubectl makes of a kustomization; skips the test without kubectl."""
    if not shutil.which("kubectl"):
        pytest.skip("needs kubectl (make test-kubernetes)")
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "kustomize warns of what it will not take in future"
    return [one for one in yaml.safe_load_all(done.stdout) if one]


@cache
def compose() -> Object:
    document: Object = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return document


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    return [one for one in objects if one["kind"] == kind]


def named(objects: list[Object], kind: str, name: str) -> Object:
    (found,) = (one for one in of_kind(objects, kind) if one["metadata"]["name"] == name)
    return found


def pods(objects: list[Object]) -> dict[str, Object]:
    """The pod of each deployment, by the name of its one container."""
    found = [one["spec"]["template"]["spec"] for one in of_kind(objects, "Deployment")]
    return {pod["containers"][0]["name"]: pod for pod in found}


def environment(pod: Object) -> dict[str, Object]:
    (container,) = pod["containers"]
    return {item["name"]: item for item in container["env"]}
