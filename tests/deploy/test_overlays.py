"""The three kinds of sites, as kubectl makes them: valid by Kubernetes' schemas, and what each of them promises."""

import re
import shutil
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from app.settings import Settings
from tests.support.manifests import DEPLOY, OVERLAYS, base, built, environment, named, of_kind, pods, rendered

# The oldest that is still maintained, and the newest that the schemas are known of.
VERSIONS = ("1.34", "1.37")
ONE_NODE = ("embedded", "edge-k3s")

every_overlay = pytest.mark.parametrize("overlay", OVERLAYS)


def volume(pod: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (one for one in pod["volumes"] if one["name"] == name)
    return dict(found)


def test_the_overlays_are_those_of_the_page() -> None:
    page = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"overlays/([\w-]+)", page)) == set(OVERLAYS) == {"embedded", "postgres", "edge-k3s"}


@pytest.mark.parametrize("version", VERSIONS)
@every_overlay
def test_objects_keep_kubernetes_schemas(overlay: str, version: str) -> None:
    objects = rendered(overlay)
    assert len(objects) >= len(base())
    for one in objects:
        kubernetes_validate.validate(one, version, strict=True)
    broken = {**of_kind(objects, "Deployment")[0], "spec": {"replicas": "two"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


@every_overlay
def test_everything_is_in_one_namespace(overlay: str) -> None:
    places = {one["metadata"].get("namespace") for one in rendered(overlay) if one["kind"] != "Namespace"}
    assert places == {"fedsift"}


@every_overlay
def test_selectors_find_their_pods(overlay: str) -> None:
    objects = rendered(overlay)
    deployments = of_kind(objects, "Deployment")
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in deployments]
    selectors = [one["spec"]["selector"] for one in of_kind(objects, "Service")]
    choosing = deployments + of_kind(objects, "PodDisruptionBudget")
    selectors += [one["spec"]["selector"]["matchLabels"] for one in choosing]
    selectors += [one["spec"]["podSelector"].get("matchLabels", {}) for one in of_kind(objects, "NetworkPolicy")]
    for selector in selectors:
        assert any(selector.items() <= found.items() for found in labels), selector


@every_overlay
def test_settings_that_are_set_exist_and_are_taken(overlay: str) -> None:
    for pod in pods(rendered(overlay)).values():
        given = {name.removeprefix("FEDSIFT_").lower(): item.get("value") for name, item in environment(pod).items()}
        assert given.keys() <= Settings.model_fields.keys()
        Settings(**{name: value for name, value in given.items() if value is not None})


@every_overlay
def test_servers_are_replaced_one_after_the_other(overlay: str) -> None:
    strategy = named(rendered(overlay), "Deployment", "fedsift-serve")["spec"]["strategy"]
    assert strategy["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


@pytest.mark.parametrize("overlay", ONE_NODE)
def test_one_node_has_one_database_on_one_volume(overlay: str) -> None:
    objects = rendered(overlay)
    (claim,) = of_kind(objects, "PersistentVolumeClaim")
    for deployment in of_kind(objects, "Deployment"):
        assert deployment["spec"]["replicas"] == 1
        pod = deployment["spec"]["template"]["spec"]
        assert volume(pod, "data")["persistentVolumeClaim"] == {"claimName": claim["metadata"]["name"]}
        assert "FEDSIFT_DATABASE_URL" not in environment(pod)  # the image's own: SQLite in /data
        (term,) = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert term["topologyKey"] == "kubernetes.io/hostname"
        assert term["labelSelector"]["matchLabels"].items() <= labels.items()
    # One pod could never be moved otherwise.
    assert of_kind(objects, "PodDisruptionBudget") == of_kind(objects, "HorizontalPodAutoscaler") == []
    assert [one for policy in of_kind(objects, "NetworkPolicy") for one in policy["spec"].get("egress", [])] == []
    dockerfile = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
    assert "FEDSIFT_DATABASE_URL=sqlite:////data/" in dockerfile


def test_with_postgresql_everything_is_in_the_database() -> None:
    objects = rendered("postgres")
    for pod in pods(objects).values():
        url = environment(pod)["FEDSIFT_DATABASE_URL"]["valueFrom"]["secretKeyRef"]
        assert url == {"name": "fedsift-database", "key": "url"}
        assert all("emptyDir" in one for one in pod["volumes"])
    deployments = of_kind(objects, "Deployment")
    assert all("replicas" not in one["spec"] for one in deployments)  # the autoscaler's
    scaled = {one["spec"]["scaleTargetRef"]["name"]: one["spec"] for one in of_kind(objects, "HorizontalPodAutoscaler")}
    assert scaled.keys() == {one["metadata"]["name"] for one in deployments}
    assert scaled["fedsift-serve"]["minReplicas"] >= 2
    assert len(of_kind(objects, "PodDisruptionBudget")) == 2


def test_with_postgresql_pods_reach_name_servers_and_the_database_and_nothing_else() -> None:
    policies = of_kind(rendered("postgres"), "NetworkPolicy")
    rules = [rule for one in policies for rule in one["spec"].get("egress", [])]
    ports = {(port["protocol"], port["port"]) for rule in rules for port in rule["ports"]}
    assert ports == {("UDP", 53), ("TCP", 53), ("TCP", 5432)}
    assert all(rule["to"] for rule in rules)  # never to any address


def test_scaling_follows_metrics_that_exist() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (DEPLOY.parent / "app").rglob("*.py"))
    scaling = DEPLOY / "kubernetes" / "overlays" / "postgres" / "scaling.yaml"
    metrics = re.findall("name: (fedsift_[a-z_]+)", scaling.read_text(encoding="utf-8"))
    assert len(metrics) == 2
    assert all(f'"{name}"' in source for name in metrics)


def test_the_edge_needs_no_registry_and_little_memory() -> None:
    objects, roomy = rendered("edge-k3s"), pods(rendered("embedded"))
    for name, pod in pods(objects).items():
        (container,) = pod["containers"]
        assert container["imagePullPolicy"] == "Never"
        assert "nvidia" not in str(container["resources"])
        assert container["resources"] != roomy[name]["containers"][0]["resources"]
    assert of_kind(objects, "PersistentVolumeClaim")[0]["spec"]["storageClassName"] == "local-path"
    service = named(objects, "Service", "fedsift")["spec"]
    assert (service["type"], service["externalTrafficPolicy"]) == ("LoadBalancer", "Local")
    (rule,) = named(objects, "NetworkPolicy", "fedsift-serve")["spec"]["ingress"]
    assert {"ipBlock": {"cidr": "192.168.0.0/16"}} in rule["from"]


def test_a_monitor_of_prometheus_finds_the_service(tmp_path: Path) -> None:
    parts = {"resources": ["deploy/kubernetes/overlays/embedded"], "components": ["deploy/prometheus"]}
    shutil.copytree(DEPLOY, tmp_path / "deploy")  # kustomize takes no absolute paths
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(parts))
    objects = built(tmp_path)
    (monitor,) = of_kind(objects, "ServiceMonitor")
    service = named(objects, "Service", "fedsift")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    ports = {one["name"] for one in service["spec"]["ports"]}
    assert {one["port"] for one in monitor["spec"]["endpoints"]} <= ports
