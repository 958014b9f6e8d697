"""Owners that a gateway names: believed from the gateway, refused from anyone else, and off by default."""

from pathlib import Path

import httpx
import pytest

from app.keys.gateway import Gateway, GatewayError
from app.settings import Settings
from tests.support.command import fedsift, make_key
from tests.support.requests import random_request
from tests.support.server import Server, running_server

HEADER = "X-Forwarded-User"
SECRET = {"x-fedsift-gateway-secret": "between-us"}
ANNA = {HEADER: "anna@example.org"}
RAW = (HEADER.lower().encode(), b"anna")


def gateway(**settings: str) -> Gateway:
    given = {"gateway_header": HEADER, "gateway_addresses": '["10.0.0.0/8"]'} | settings
    found = Gateway.of(Settings(**given))  # type: ignore[arg-type]
    assert found is not None
    return found


def refusals(server: Server) -> int:
    return server.log.read_text().count('"message": "refused an owner in a header"')


def test_it_is_off_by_default(client: httpx.Client) -> None:
    assert Gateway.of(Settings()) is None
    made = client.post("/v1/plans", json={**random_request(1, 8), "keep": True}, headers=ANNA)
    assert client.get(made.headers["location"]).status_code == 200  # the header says nothing


def test_an_owner_that_the_gateway_names_has_what_it_made(tmp_path: Path) -> None:
    settings = {"gateway_header": HEADER, "gateway_addresses": '["127.0.0.0/8"]', "gateway_secret": "between-us"}
    with running_server(tmp_path, **settings) as server, server.client() as client:
        assert client.get("/v1/runs").status_code == 401  # nobody is let in without a name or a key
        run = client.post("/v1/runs", json=random_request(1, 8), headers=ANNA | SECRET).headers["location"]
        assert client.get(run, headers=ANNA | SECRET).status_code == 200
        assert client.get(run, headers={HEADER: "ben@example.org"} | SECRET).status_code == 404
        before = refusals(server)
        for headers in (ANNA, ANNA | {"x-fedsift-gateway-secret": "guessed"}):
            refused = client.get(run, headers=headers)
            assert refused.status_code == 403
            assert refused.json()["type"] == "urn:fedsift:problem:forbidden"
            assert HEADER in refused.json()["detail"]
        assert refusals(server) == before + 2
        assert "between-us" not in server.log.read_text()
        # A key for a program of the same owner.
        key = make_key(tmp_path, "program", "--owner", "gateway:anna@example.org")["key"]
        assert client.get(run, headers={"x-api-key": key}).status_code == 200
        both = client.get(run, headers=ANNA | SECRET | {"x-api-key": key})
        assert both.status_code == 403
        assert both.json()["detail"] == "send X-API-Key or be named by the gateway, not both"


def test_from_another_address_the_header_is_refused(tmp_path: Path) -> None:
    settings = {"gateway_header": HEADER, "gateway_addresses": '["10.1.2.3"]', "auth": "required"}
    key = make_key(tmp_path, "one")["key"]
    with running_server(tmp_path, **settings) as server, server.client() as client:
        # Who is connected counts, not who a header says it is.
        for more in ({}, {"x-forwarded-for": "10.1.2.3"}, {"x-real-ip": "10.1.2.3"}, {"x-api-key": key}):
            refused = client.get("/v1/runs", headers=ANNA | more)
            assert refused.status_code == 403
            assert refused.json()["detail"] == f"the header {HEADER} is the gateway's, and 127.0.0.1 is not the gateway"
        assert refusals(server) == 4
        assert client.get("/v1/runs", headers={"x-api-key": key}).status_code == 200


def test_addresses_and_secret_both_count_if_both_are_given() -> None:
    both = gateway(gateway_addresses='["10.0.0.0/8", "fd00::/8"]', gateway_secret="s3")
    secret = (b"x-fedsift-gateway-secret", b"s3")
    assert both.owner([], "1.2.3.4") is None
    for peer in ("10.9.9.9", "::ffff:10.9.9.9", "fd00::1"):
        assert both.owner([RAW, secret], peer) == "gateway:anna"
    wrong = [([RAW, secret], "11.0.0.1"), ([RAW], "10.0.0.1"), ([RAW, secret, secret], "10.0.0.1"), ([RAW, secret], "")]
    for headers, peer in wrong:
        with pytest.raises(GatewayError):
            both.owner(headers, peer)


@pytest.mark.parametrize("value", [b"", b"  ", b"\xff\xfe", b"a\x07", b"x" * 257])
def test_a_header_that_names_nobody_is_refused(value: bytes) -> None:
    with pytest.raises(GatewayError, match="does not name an owner"):
        gateway().owner([(RAW[0], value)], "10.0.0.1")


def test_a_header_that_is_there_twice_is_refused() -> None:
    with pytest.raises(GatewayError, match="2 times"):
        gateway().owner([RAW, RAW], "10.0.0.1")


@pytest.mark.parametrize(
    ("settings", "named", "reason"),
    [
        ({"gateway_header": HEADER}, "FEDSIFT_GATEWAY_HEADER", "anyone could send the header"),
        ({"gateway_secret": "s3cret-value"}, "FEDSIFT_GATEWAY_HEADER", "is missing"),
        ({"gateway_header": "X User", "gateway_secret": "s3cret-value"}, "FEDSIFT_GATEWAY_HEADER", "name of a header"),
        ({"gateway_header": HEADER, "gateway_addresses": '["nginx"]'}, "FEDSIFT_GATEWAY_ADDRESSES", "nginx"),
    ],
)
def test_a_gateway_that_anyone_could_be_is_refused_at_the_start(
    tmp_path: Path, settings: dict[str, str], named: str, reason: str
) -> None:
    refused = fedsift(tmp_path, "serve", **settings)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"error: {named}")
    assert reason in refused.stderr
    assert "s3cret-value" not in refused.stderr
    assert refused.stderr.count("\n") == 1
