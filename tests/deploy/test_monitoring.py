"""Alert rules, their tests and the dashboard: every metric that they name is one that a live service tells."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support.requests import random_request

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
TESTS = DEPLOY / "prometheus" / "alerts_test.yaml"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "fedsift.json").read_text(encoding="utf-8"))
RULES = [rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]
PROMTOOL = shutil.which("promtool")
# Prometheus' own.
GIVEN = {"up"}
NAME = re.compile(r"\b(?:fedsift|process)_[a-z_]+\b|\bup\b")


def queries() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]


def test_every_metric_of_rules_and_dashboard_is_told_by_a_live_service(client: httpx.Client) -> None:
    assert client.post("/v1/plans", json=random_request(1, 8)).status_code == 200
    text = client.get("/metrics").text
    told = {re.split(r"[{ ]", line, maxsplit=1)[0] for line in text.splitlines() if not line.startswith("#")}
    named = {name for query in queries() for name in NAME.findall(query)}
    assert len(named) > 20
    assert named - GIVEN - told == set()
    # And the labels that select: a misspelt one would select nothing.
    for query in queries():
        for name, labels in re.findall(r"(fedsift_\w+)\{([^}]*)\}", query):
            for label in re.findall(r"(\w+)=", labels):
                assert label == "job" or re.search(rf"^{name}\{{[^}}]*\b{label}=", text, re.MULTILINE), (name, label)


def test_every_alert_has_a_test_an_action_and_a_severity() -> None:
    tried = set(re.findall(r'alertname="(\w+)"', TESTS.read_text(encoding="utf-8")))
    assert {rule["alert"] for rule in RULES} == tried
    for rule in RULES:
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert {"summary", "action"} <= rule["annotations"].keys()


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
@pytest.mark.parametrize("command", [("check", "rules", ALERTS), ("test", "rules", TESTS)], ids=["check", "test"])
def test_promtool_accepts_the_rules_and_their_tests(command: tuple[str, str, Path]) -> None:
    *words, path = command
    done = subprocess.run(
        [str(PROMTOOL), *words, path.name], cwd=path.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_the_live_metrics_keep_to_the_rules_of_the_format(client: httpx.Client) -> None:
    text = client.get("/metrics").text
    done = subprocess.run(
        [str(PROMTOOL), "check", "metrics"], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    # It also warns of style (3); what cannot be read is an error (1).
    assert done.returncode in {0, 3}, done.stdout + done.stderr
    assert "error" not in done.stderr
