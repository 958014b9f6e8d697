"""`fedsift webhooks`, a service that keeps a plan and goes on with a run, and the receiver of the examples."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import build_cli
from tests.support.requests import random_request
from tests.support.server import free_port, running_server

RECEIVER = Path(__file__).parents[4] / "examples" / "webhook_receiver.py"
TARGETS = '["127.0.0.0/8"]'


def run(*words: str) -> Result:
    return CliRunner().invoke(build_cli(only="webhooks"), ["webhooks", *words])


def test_the_receiver_of_the_examples_is_told_what_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", f"sqlite:///{tmp_path}/fedsift.db")
    monkeypatch.setenv("FEDSIFT_WEBHOOK_TARGETS", TARGETS)
    port = str(free_port())
    made = json.loads(run("create", f"http://127.0.0.1:{port}/", "--json").stdout)
    command = [sys.executable, "-S", str(RECEIVER), made["secret"], port]
    with running_server(tmp_path, webhook_targets=TARGETS) as server, server.client() as client:
        plan = client.post("/v1/plans", json=random_request(1, 8, keep=True)).json()["id"]
        request = random_request(1, 8, horizon=4, aggregation_period=2)
        started = client.post("/v1/runs", json=request).raise_for_status().json()["id"]
        client.post(
            f"/v1/runs/{started}/aggregations", json={"aggregation": 1, "gradient_norm": 0.5}
        ).raise_for_status()
        # It comes late, and gets what it missed.
        receiver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert receiver.stdout is not None
            said = [receiver.stdout.readline().split(" ", 2) for _ in range(3)]
        finally:
            receiver.kill()
            receiver.communicate()
    assert ["plan.kept", plan, "{}\n"] in said
    of_run = [(event, json.loads(data)) for event, resource, data in said if resource == started]
    assert of_run == [("run.started", {"aggregation": 0}), ("run.aggregated", {"aggregation": 1})]
    entries = json.loads(run("deliveries", made["id"], "--json").stdout)
    assert len(entries) == 3
    assert max(entry["attempts"] for entry in entries) > 0


def test_they_are_listed_without_secrets_and_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", f"sqlite:///{tmp_path}/fedsift.db")
    monkeypatch.setenv("FEDSIFT_WEBHOOK_TARGETS", TARGETS)
    made = json.loads(run("create", "http://127.0.0.1:9/", "--json").stdout)
    listed = run("list", "--json").stdout
    assert [one["id"] for one in json.loads(listed)] == [made["id"]]
    assert made["secret"] not in listed
    assert made["id"] in run("list").stdout
    assert run("delete", made["id"]).exit_code == 0
    assert json.loads(run("list", "--json").stdout) == []
    gone = run("delete", made["id"])
    assert (gone.exit_code, gone.stderr) == (1, f"error: there is no webhook {made['id']}\n")
    refused = run("create", "http://10.0.0.1/")
    assert refused.stderr == "error: 10.0.0.1 is not listed in FEDSIFT_WEBHOOK_TARGETS\n"
    nobody = run("create", "http://127.0.0.1:9/", "--owner", "own_none")
    assert nobody.stderr == "error: there is no owner 'own_none'; `fedsift keys list` shows them\n"
    assert time.time() - made["created_at"] < 600
