"""compose.yaml and the base of the Kubernetes manifests: strict where it counts, and true to the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app.settings import Settings
from tests.support.manifests import DEPLOY, base, compose, environment, of_kind, pods


def test_every_file_is_used() -> None:
    for kustomization in (DEPLOY / "kubernetes").rglob("kustomization.yaml"):
        used = yaml.safe_load(kustomization.read_text(encoding="utf-8"))
        files = used["resources"] + [patch["path"] for patch in used.get("patches", [])]
        beside = {path.name for path in kustomization.parent.glob("*.yaml")} - {"kustomization.yaml"}
        assert beside == {name for name in files if name.endswith(".yaml")}, kustomization


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_pods_keep_the_restricted_profile(name: str) -> None:
    pod = pods(base())[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    (container,) = pod["containers"]
    security = container["securityContext"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["readOnlyRootFilesystem"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["limits"]["memory"]
    assert {"startupProbe", "livenessProbe"} <= container.keys()


def test_liveness_does_not_ask_the_database() -> None:
    probes = {name: pod["containers"][0]["livenessProbe"] for name, pod in pods(base()).items()}
    assert probes["serve"]["httpGet"]["path"] == "/healthz"
    assert probes["worker"]["exec"]["command"][-1] == "app.worker.health"  # tests/app/worker/test_health.py


def test_health_checks_ignore_the_working_folder() -> None:
    dockerfile = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
    checks = re.findall(r"CMD (\[.*-m.*\])", dockerfile) + re.findall(
        r"(?:test|command): (\[.*-m.*\])", "".join(p.read_text(encoding="utf-8") for p in DEPLOY.rglob("*.yaml"))
    )
    assert len(checks) == 5
    assert all(re.search(r'-P"?, "?-m', check) for check in checks)


def test_nothing_may_come_in_or_go_out_unless_a_policy_allows_it() -> None:
    shut = [one["spec"] for one in of_kind(base(), "NetworkPolicy") if one["spec"]["podSelector"] == {}]
    assert shut == [{"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}]
    assert compose()["services"]["worker"]["networks"] == ["inner"]
    assert compose()["networks"]["inner"] == {"internal": True}


def test_settings_that_are_set_exist() -> None:
    known = {f"FEDSIFT_{name.upper()}" for name in Settings.model_fields}
    set_there = {name for pod in pods(base()).values() for name in environment(pod)}
    services = compose()["services"].values()
    set_there |= {name for service in services for name in service["environment"] if name.startswith("FEDSIFT_")}
    assert set_there
    assert set_there <= known


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
    volumes = set(compose()["volumes"])
    for name, service in services.items():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert {volume.split(":")[0] for volume in service["volumes"]} <= volumes
        if name != "database":
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["depends_on"]["database"] == {"condition": "service_healthy"}
