"""POST /v1/imports through the service."""

import json
from typing import Any

import httpx
import pytest


def post(client: httpx.Client, *texts: str, **more: Any) -> httpx.Response:
    files = [{"name": f"file{i}", "text": text} for i, text in enumerate(texts)]
    return client.post("/v1/imports", json={"files": files, **more})


def test_a_file_becomes_a_fleet_with_a_report(client: httpx.Client) -> None:
    mesh = {"nodes": 2, "latitude": [53.1, None], "source": [0, 1], "target": [1, 0], "quality": [0.5, 1.0]}
    answer = post(client, json.dumps(mesh), defaults={"datapoints": 70})
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert made["fleet"]["devices"][0] == {"id": "0", "datapoints": 70, "samples_per_second": 40, "latitude": 53.1}
    assert made["fleet"]["links"][0] == {"from": "0", "to": "1", "mbps": 6, "loss": 0.5}
    assert {"field": "datapoints", "value": "70", "count": 2} in made["report"]["assumed"]
    assert "loss = 1 − quality for 2 links of the file" in made["report"]["notes"]


def test_tables_label_counts_and_symmetric_links(client: httpx.Client) -> None:
    labels = {"name": "labels.csv", "text": "id,class,count\na,car,4\n"}
    answer = post(client, "id\na\nb\n", "from,to\na,b\n", label_counts=labels, symmetric=True, format="csv")
    fleet = answer.json()["fleet"]
    assert fleet["devices"][0]["label_counts"] == {"car": 4}
    assert [link["from"] for link in fleet["links"]] == ["a", "b"]


LAUGHS = '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><graphml><graph><node id="&b;"/></graph></graphml>'


@pytest.mark.parametrize(
    ("texts", "more", "pointer", "detail"),
    [
        (["from,to\na,b\n", "id\na\n"], {}, "/files", "file0, line 2: to: there is no device 'b'"),
        ([LAUGHS], {}, "/files", "file0, line 1: declares an XML entity; they are not read"),
        (
            ["id\na\nb\n", "from,to,rate\na,b,1\n"],
            {"strict": True},
            "/files",
            "file1, line 2: there is no field 'rate'",
        ),
        (
            ["id,lod\na,1\n"],
            {"strict": True},
            "/files",
            "file0, line 2: there is no field 'lod' (did you mean `load`?)",
        ),
        (["id\na\n"], {"defaults": {"load": 2}}, "/defaults", "load 2.0 must be from 0 to 1"),
        (["id\na\n"], {"format": "excel"}, "/format", "Input should be 'json', 'graphml', 'csv', 'olsr' or 'batman'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    client: httpx.Client, texts: list[str], more: dict[str, Any], pointer: str, detail: str
) -> None:
    answer = post(client, *texts, **more)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert error["detail"].startswith(detail)


def test_a_file_that_needs_too_much_memory_is_refused_before_it_is_read(client: httpx.Client) -> None:
    answer = post(client, "id\n" + "\n" * 500_000)
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("reading a file of 500003 bytes takes the request to an estimated ")


def test_separators_in_a_file_are_not_charged_twice(client: httpx.Client) -> None:
    """380,000 of them need 304 MB of 335; as values of the request's own JSON they would need 110 MB more."""
    cells = "," * 380_000
    answer = post(client, f"id,{cells}\n")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["detail"] == "file0, line 1: names the column '' twice"


@pytest.mark.parametrize(("body", "status"), [(b'{"files": [', 400), (b"[" * 3_000_000, 413), (b'{"files": 3}', 422)])
def test_a_body_that_is_no_request_is_refused(client: httpx.Client, body: bytes, status: int) -> None:
    answer = client.post("/v1/imports", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
