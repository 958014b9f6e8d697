"""Webhooks go to listed hosts and networks alone, by the address that a host has when it is called."""

import socket
from typing import Any

import pytest

from app.webhooks.targets import Place, TargetError, Targets

TARGETS = Targets.of(["hooks.example", "10.1.0.0/16", "fd00::/8"])


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://hooks.example", Place(secure=True, host="hooks.example", port=443, path="/")),
        ("https://HOOKS.example:8443/a?b=c", Place(secure=True, host="hooks.example", port=8443, path="/a?b=c")),
        ("http://10.1.2.3:80/x", Place(secure=False, host="10.1.2.3", port=80, path="/x")),
        ("http://[fd00::1]/", Place(secure=False, host="fd00::1", port=80, path="/")),
    ],
)
def test_a_listed_host_is_a_place(url: str, place: Place) -> None:
    assert TARGETS.place(url) == place


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "https://hooks.example.evil.example/",
        "https://hooks.example@evil.example/",
        "https://me:secret@hooks.example/",
        "http://10.2.0.1/",
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://2130706433/",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "https://hooks.example:99999/",
        "https:///x",
        "https://hooks.example/a b",
        "https://hooks.example/a\r\nX: y",
        "hooks.example",
    ],
)
def test_any_other_is_refused(url: str) -> None:
    with pytest.raises(TargetError):
        TARGETS.place(url)


def test_nothing_is_listed_by_default() -> None:
    with pytest.raises(TargetError, match="not listed in FEDSIFT_WEBHOOK_TARGETS"):
        Targets.of(()).place("https://hooks.example/")


@pytest.mark.parametrize(
    ("scheme", "addresses", "outcome"),
    [
        ("https", ["93.184.216.34"], "allowed"),
        ("http", ["93.184.216.34"], "refused"),
        ("http", ["10.1.9.9"], "allowed"),
        ("https", ["10.2.0.1"], "refused"),
        ("https", ["127.0.0.1"], "refused"),
        ("https", ["169.254.169.254"], "refused"),
        ("https", ["::1"], "refused"),
        ("https", ["fe80::1%eth0"], "refused"),
        ("https", ["::ffff:127.0.0.1"], "refused"),
        ("https", ["::ffff:10.1.0.7"], "allowed"),
        ("https", ["2606:2800:220:1::1"], "allowed"),
        ("https", ["64:ff9b::93.184.216.34"], "allowed"),
        ("https", ["64:ff9b::169.254.169.254"], "refused"),
        ("https", ["64:ff9b:1::a9fe:a9fe"], "refused"),
        ("https", ["2002:a9fe:a9fe::1"], "refused"),
        ("https", ["::169.254.169.254"], "refused"),
        ("https", ["fec0::1"], "refused"),
        ("https", ["100.64.0.1"], "refused"),
        ("https", ["224.0.0.1"], "refused"),
        ("https", ["0.0.0.0"], "refused"),
        ("https", ["93.184.216.34", "192.168.1.1"], "refused"),
    ],
)
def test_a_listed_name_may_not_lead_inside(
    monkeypatch: pytest.MonkeyPatch, scheme: str, addresses: list[str], outcome: str
) -> None:
    """Whoever rules the name service of a listed host cannot aim at this network: each answer is checked."""

    def found(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    place = TARGETS.place(f"{scheme}://hooks.example/")
    if outcome == "allowed":
        assert TARGETS.address(place) == addresses[0]
    else:
        with pytest.raises(TargetError, match="may not call"):
            TARGETS.address(place)
