"""Hosts that a request may name, and what web pages from elsewhere can do."""

import json
from pathlib import Path

import httpx
import pytest

from app.http.hosts import ServedHosts
from app.settings import Settings
from tests.support.requests import random_request
from tests.support.server import running_server

LOOPBACK = ["localhost", "localhost:8000", "LocalHost", "127.0.0.1", "127.8.9.10:1", "[::1]", "[::1]:8000"]
OTHERS = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.1",
    "",
    "[::2]",
]


def served(settings: Settings, *hosts: str) -> bool:
    return ServedHosts.of(settings).serve([(b"host", host.encode()) for host in hosts])


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_served(host: str) -> None:
    assert served(Settings(), host)
    assert served(Settings(host="0.0.0.0", allowed_hosts=("plans.example",)), host)


@pytest.mark.parametrize("host", OTHERS)
def test_others_are_not_served_on_loopback_without_keys(host: str) -> None:
    assert not served(Settings(), host)
    assert not served(Settings(host="localhost"), host)
    assert not served(Settings(), "localhost", host)
    assert served(Settings(auth="required"), host)
    assert served(Settings(host="0.0.0.0"), host)
    assert served(Settings(host="0.0.0.0", auth="off"), host)
    assert not served(Settings(host="0.0.0.0", allowed_hosts=("plans.example",)), host)


def test_names_can_be_allowed() -> None:
    settings = Settings(allowed_hosts=("Plans.example",))
    assert served(settings, "plans.example:8000")
    assert not served(settings, "more.plans.example")


def test_a_request_without_a_host_comes_from_no_browser() -> None:
    assert served(Settings())


def test_another_host_gets_421(client: httpx.Client) -> None:
    for path in ("/", "/healthz", "/metrics", "/v1/runs", "/openapi.json"):
        answer = client.get(path, headers={"host": "evil.example"})
        assert answer.status_code == 421
        assert answer.json()["type"] == "urn:fedsift:problem:misdirected"
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
    answer = client.post("/v1/plans", json=random_request(1, 10), headers={"host": "evil.example:8000"})
    assert answer.status_code == 421


def test_a_name_in_the_settings_is_served(tmp_path: Path) -> None:
    with running_server(tmp_path, allowed_hosts='["plans.example"]') as server, server.client() as client:
        assert client.get("/v1/runs", headers={"host": "plans.example"}).status_code == 200
        assert client.get("/v1/runs", headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("path", ["/v1/plans", "/v1/plans/binary", "/v1/runs", "/v1/validations"])
def test_a_page_from_elsewhere_starts_nothing(client: httpx.Client, path: str) -> None:
    page = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    # What a browser sends without asking first.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
        headers = page if kind is None else {**page, "content-type": kind}
        answer = client.post(path, content=json.dumps(random_request(1, 10)), headers=headers)
        assert answer.status_code == 415
        assert "access-control-allow-origin" not in answer.headers
    # What it asks for before it sends anything else.
    for method in ("POST", "DELETE"):
        asked = {"access-control-request-method": method, "access-control-request-headers": "content-type"}
        answer = client.options(path, headers={**page, **asked})
        assert answer.status_code == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]
