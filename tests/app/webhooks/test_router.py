"""/v1/webhooks: owners register programs at listed targets, and see what was delivered to them."""

from pathlib import Path

import httpx

from app.openapi.examples import RESPONSES
from app.webhooks.sending import signature
from tests.support.command import fedsift, make_key
from tests.support.receiver import Receiver
from tests.support.requests import random_request
from tests.support.server import running_server
from tests.support.waiting import until

TARGETS = '["127.0.0.0/8", "hooks.example"]'


def test_an_owner_registers_a_webhook_and_sees_what_arrived(tmp_path: Path) -> None:
    mine, theirs = ({"x-api-key": make_key(tmp_path, name)["key"]} for name in ("one", "two"))
    settings = {"auth": "required", "webhook_targets": TARGETS}
    with Receiver() as receiver, running_server(tmp_path, **settings) as server, server.client(headers=mine) as client:
        made = client.post("/v1/webhooks", json={"url": receiver.url})
        assert made.status_code == 201, made.text
        told = made.json()
        assert told.keys() == RESPONSES["createWebhook"]["201"].keys()
        place = made.headers["location"]
        plain = {name: value for name, value in told.items() if name != "secret"}
        assert client.get(place).json() == plain
        assert client.get("/v1/webhooks").json() == {"webhooks": [plain]}
        # Others neither see nor delete it.
        assert client.get("/v1/webhooks", headers=theirs).json() == {"webhooks": []}
        for method, path in (("GET", place), ("DELETE", place), ("GET", f"{place}/deliveries")):
            assert client.request(method, path, headers=theirs).status_code == 404
        kept = client.post("/v1/plans", json=random_request(1, 8, keep=True)).json()["id"]
        client.post("/v1/plans", json=random_request(1, 8, keep=True), headers=theirs).raise_for_status()
        (entry,) = deliveries_once_delivered(client, place)
        assert entry.keys() == RESPONSES["listDeliveries"]["200"]["deliveries"][0].keys()
        assert (entry["event"], entry["resource"], entry["answer"]) == ("plan.kept", kept, "204")
        ((headers, body),) = receiver.requests
        timestamp = int(headers["X-Fedsift-Signature"].partition(",")[0].removeprefix("t="))
        assert headers["X-Fedsift-Signature"] == signature(told["secret"], timestamp, body)
        assert headers["X-Fedsift-Delivery"] == entry["id"]
        assert told["secret"] not in fedsift(tmp_path, "webhooks", "list", "--json").stdout
        assert told["secret"] not in server.log.read_text()
        assert client.delete(place).status_code == 204
        assert client.get(place).status_code == 404


def deliveries_once_delivered(client: httpx.Client, place: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []

    def all_delivered() -> bool:
        found[:] = client.get(f"{place}/deliveries?limit=10").json()["deliveries"]
        return bool(found) and all(one["state"] == "delivered" for one in found)

    until(all_delivered)
    return found


def test_targets_that_are_not_listed_are_refused_without_repeating_them(tmp_path: Path) -> None:
    with running_server(tmp_path, webhook_targets=TARGETS) as server, server.client() as client:
        for url, reason in (
            ("https://inside.example/secret-path", "is not listed in FEDSIFT_WEBHOOK_TARGETS"),
            ("http://169.254.169.254/latest", "is not listed in FEDSIFT_WEBHOOK_TARGETS"),
            ("ftp://hooks.example/secret-path", "is no URL of the form https://host/path"),
            ("https://user@hooks.example/", "is no URL of the form https://host/path"),
            ("https://[::1/", "is no URL"),
        ):
            refused = client.post("/v1/webhooks", json={"url": url})
            assert refused.status_code == 422, url
            (error,) = refused.json()["errors"]
            assert error["pointer"] == "/url"
            assert error["detail"].startswith(reason)
            assert "secret-path" not in refused.text
        for body in (
            {},
            {"url": 1},
            {"url": ""},
            {"url": "x" * 3000},
            {"url": "https://hooks.example/", "secret": "s"},
        ):
            assert client.post("/v1/webhooks", json=body).status_code == 422
        assert client.get("/v1/webhooks").json() == {"webhooks": []}


def test_a_url_has_one_webhook_and_an_owner_sixteen(tmp_path: Path) -> None:
    with running_server(tmp_path, webhook_targets=TARGETS) as server, server.client() as client:
        urls = [f"https://hooks.example/{number}" for number in range(17)]
        answers = [client.post("/v1/webhooks", json={"url": url}) for url in (*urls[:16], urls[0], urls[16])]
        assert [answer.status_code for answer in answers] == [201] * 16 + [409, 409]
        assert "for this URL already" in answers[16].json()["detail"]
        assert "16 webhooks already" in answers[17].json()["detail"]
        assert client.delete(answers[0].headers["location"]).status_code == 204
        assert client.post("/v1/webhooks", json={"url": urls[16]}).status_code == 201
