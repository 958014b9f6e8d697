"""compose.yaml and the Kubernetes manifests: valid by their published schemas, and strict where it counts."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from app.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
OBJECTS = [
    (path.name, one) for path in MANIFESTS for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one
]
# The oldest that is still maintained, and the newest that the schemas are known of.
VERSIONS = ("1.34", "1.37")


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [one for _, one in OBJECTS if one["kind"] == kind]


def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "one"), OBJECTS, ids=[f"{name}-{one['kind']}" for name, one in OBJECTS])
def test_manifests_keep_kubernetes_schemas(name: str, one: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(one, version, strict=True)


def test_a_wrong_manifest_would_be_found() -> None:
    broken = {**of_kind("Deployment")[0], "spec": {"replicas": "two"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[-1], strict=True)


def test_everything_is_applied() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    assert sorted(listed) == [path.name for path in MANIFESTS]
    kinds = {one["kind"] for _, one in OBJECTS}
    assert kinds >= {"Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy"}
    assert {one["metadata"].get("namespace", "fedsift") for _, one in OBJECTS} == {"fedsift"}


@pytest.mark.parametrize("deployment", of_kind("Deployment"), ids=lambda one: one["metadata"]["name"])
def test_pods_keep_the_restricted_profile(deployment: dict[str, Any]) -> None:
    pod = deployment["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert all(volume.keys() & {"emptyDir", "configMap", "secret"} for volume in pod["volumes"])
    for container in pod["containers"]:
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {"startupProbe", "livenessProbe"} <= container.keys()


def test_selectors_find_their_pods() -> None:
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in of_kind("Deployment")]
    selectors = [one["spec"]["selector"] for one in of_kind("Service")]
    selectors += [
        one["spec"]["selector"]["matchLabels"] for one in of_kind("Deployment") + of_kind("PodDisruptionBudget")
    ]
    selectors += [one["spec"]["podSelector"].get("matchLabels", {}) for one in of_kind("NetworkPolicy")]
    for selector in selectors:
        assert any(selector.items() <= labels.items() for labels in pods), selector
    targets = {one["spec"]["scaleTargetRef"]["name"] for one in of_kind("HorizontalPodAutoscaler")}
    assert targets == {one["metadata"]["name"] for one in of_kind("Deployment")}


def test_pods_reach_name_servers_and_the_database_and_nothing_else() -> None:
    rules = [rule for one in of_kind("NetworkPolicy") for rule in one["spec"].get("egress", [])]
    assert {(port["protocol"], port["port"]) for rule in rules for port in rule["ports"]} == {
        ("UDP", 53),
        ("TCP", 53),
        ("TCP", 5432),
    }
    assert all(rule["to"] for rule in rules)  # never to any address
    assert compose()["services"]["worker"]["networks"] == ["inner"]
    assert compose()["networks"]["inner"] == {"internal": True}


def test_images_are_named_by_version() -> None:
    version = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    pods = [one["spec"]["template"]["spec"] for one in of_kind("Deployment")]
    images = [container["image"] for pod in pods for container in pod["containers"]]
    images += [service["image"] for service in compose()["services"].values()]
    tags = [re.sub(r"\$\{[A-Z]+_DIGEST:-\}$", "", image).rpartition(":")[2] for image in images]
    assert sorted(tags) == sorted([f"{version}-serve", f"{version}-worker"] * 2 + ["18.1"])


def test_liveness_does_not_ask_the_database() -> None:
    probes = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]
        for one in of_kind("Deployment")
    }
    assert probes["fedsift-serve"]["httpGet"]["path"] == "/healthz"
    assert probes["fedsift-worker"]["exec"]["command"][-1] == "app.worker.health"  # tests/app/worker/test_health.py


def test_health_checks_ignore_the_working_folder() -> None:
    dockerfile = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
    checks = re.findall(r"CMD (\[.*-m.*\])", dockerfile) + re.findall(
        r"(?:test|command): (\[.*-m.*\])", "".join(p.read_text(encoding="utf-8") for p in DEPLOY.rglob("*.yaml"))
    )
    assert len(checks) == 5
    assert all(re.search(r'-P"?, "?-m', check) for check in checks)


def test_scaling_follows_metrics_that_exist() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (DEPLOY.parent / "app").rglob("*.py"))
    named = re.findall("name: (fedsift_[a-z_]+)", (DEPLOY / "kubernetes" / "scaling.yaml").read_text(encoding="utf-8"))
    assert len(named) == 2
    assert all(f'"{name}"' in source for name in named)


def test_settings_that_are_set_exist() -> None:
    known = {f"FEDSIFT_{name.upper()}" for name in Settings.model_fields}
    set_there = {item["name"] for one in of_kind("Deployment") for item in environment(one)}
    services = compose()["services"].values()
    set_there |= {name for service in services for name in service["environment"] if name.startswith("FEDSIFT_")}
    assert set_there
    assert set_there <= known


def environment(deployment: dict[str, Any]) -> list[dict[str, Any]]:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    found: list[dict[str, Any]] = container["env"]
    return found


def test_compose_keeps_its_schema(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    # Merge keys are YAML's, not the schema's: what is checked is the document they make.
    plain = tmp_path / "compose.yaml"
    plain.write_text(yaml.safe_dump({k: v for k, v in compose().items() if not k.startswith("x-")}))
    done = subprocess.run([*command, str(plain)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    plain.write_text(yaml.safe_dump({"services": {"serve": {"imagine": "x"}}}))
    assert subprocess.run([*command, str(plain)], capture_output=True, check=False).returncode != 0


def test_compose_has_a_service_two_workers_and_a_database() -> None:
    services = compose()["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    assert "postgres" in services["database"]["image"]
    named = set(compose()["volumes"])
    for name, service in services.items():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert {volume.split(":")[0] for volume in service["volumes"]} <= named
        if name != "database":
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["depends_on"]["database"] == {"condition": "service_healthy"}
