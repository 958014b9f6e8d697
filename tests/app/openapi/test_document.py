"""The committed documents: what generators read is what the service says, well named and exemplified."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from app.commands.openapi import Version, rendered
from app.openapi.examples import ARCHIVE_SAMPLE, REQUESTS, RESPONSES, RUN_ARCHIVE_SAMPLE, RUN_ID
from app.openapi.names import PREFIX, inline_choices, name_plainly
from app.openapi.network_examples import NETWORK_ARCHIVE_SAMPLE
from app.openapi.v30 import as_openapi_30
from tests.support.server import Server

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT: dict[str, Any] = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))
# What a caller sends alone decides these; everything else may be refused in more ways.
REFUSALS = {"400", "413", "415", "422", "503"}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


@pytest.mark.parametrize(("name", "version"), [("openapi.json", Version.V3_1), ("openapi-3.0.json", Version.V3_0)])
def test_the_committed_document_is_the_services(name: str, version: Version) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == rendered(version), f"docs/{name} is behind the code: run `make openapi`"


def test_both_renderings_keep_their_standard() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    OpenAPIV30SpecValidator(json.loads((DOCS / "openapi-3.0.json").read_text(encoding="utf-8"))).validate()


def test_operations_have_an_id_a_tag_and_sentences() -> None:
    known = {tag["name"] for tag in DOCUMENT["tags"]}
    found = [operation for _, _, operation in operations()]
    assert len({operation["operationId"] for operation in found}) == len(found)
    for operation in found:
        assert re.fullmatch("[a-z]+([A-Z][a-z]+)*", operation["operationId"])
        assert set(operation["tags"]) <= known
        assert operation["summary"]
        assert operation["description"]


def test_every_operation_has_an_example() -> None:
    for path, _, operation in operations():
        if "x-codeSamples" in operation:
            continue
        shown = [operation["requestBody"]] if "requestBody" in operation else []
        answers = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        shown += [answer for answer in answers if "content" in answer]
        for body in shown:
            (content,) = body["content"].values()
            assert "example" in content, f"{operation['operationId']} has a body without an example"
        places = [parameter for parameter in operation.get("parameters", ()) if parameter["in"] == "path"]
        assert len(places) == path.count("{")
        assert all("example" in place for place in places), path


def test_every_error_is_a_documented_problem() -> None:
    for path, method, operation in operations():
        refused = {status for status in operation["responses"] if status >= "4"}
        if path.startswith("/v1/"):
            assert "401" in refused
        if "requestBody" in operation:
            assert refused >= REFUSALS, (method, path)
        if "{" in path:
            assert "404" in refused
        for status in refused - ({"503"} if path == "/readyz" else set()):
            content = operation["responses"][status]["content"]["application/problem+json"]
            assert content["schema"] == {"$ref": f"{PREFIX}Problem"}
            assert content["example"]["status"] == int(status)


def test_names_are_plain() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for name in schemas:
        assert re.fullmatch("([A-Z][a-z]+)+", name), name
        assert not name.endswith(("In", "Out", "Model", "Schema", "Response")), name
    inline = [choice for schema in schemas.values() for choice in inline_choices(schema, top=True)]
    inline += list(inline_choices(DOCUMENT["paths"]))
    assert inline == [], "give these a name in app/openapi/names.py"
    text = json.dumps(DOCUMENT)
    assert '"anyOf": [{"type": "null"' not in text
    assert '"type": "null"' not in text
    for schema in schemas.values():
        for name, field in schema.get("properties", {}).items():
            assert re.fullmatch("[a-z]+(_[a-z]+)*", name), name
            assert "title" not in field


def test_numbers_say_their_width() -> None:
    text = json.dumps(DOCUMENT["components"]["schemas"])
    assert '"type": "number"' in text
    for schema in re.findall(r'{[^{}]*"type": "(?:number|integer)"[^{}]*}', text):
        assert re.search('"format": "(double|int32|int64)"', schema), schema


def test_unions_say_which_member_is_meant() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    unions = [schema for schema in schemas.values() if "oneOf" in schema]
    assert unions
    for union in unions:
        key = union["discriminator"]["propertyName"]
        for reference in union["discriminator"]["mapping"].values():
            assert key in schemas[reference.removeprefix(PREFIX)]["required"]


def test_two_models_of_one_name_are_refused() -> None:
    built: dict[str, Any] = {"components": {"schemas": {"RunIn": {}, "RunOut": {}}}, "paths": {}}
    with pytest.raises(ValueError, match="same name"):
        name_plainly(built)


def test_the_older_rendering_translates_what_it_knows() -> None:
    schema = {"type": "number", "exclusiveMinimum": 0, "examples": [2.5]}
    kind = {"type": "string", "const": "plan"}
    beside = {"$ref": f"{PREFIX}Gradient", "default": {"const": 1}}
    translated = as_openapi_30({"a": schema, "b": kind, "c": beside})
    assert translated == {
        "openapi": "3.0.3",
        "a": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "example": 2.5},
        "b": {"type": "string", "enum": ["plan"]},
        "c": {"allOf": [{"$ref": f"{PREFIX}Gradient"}], "default": {"const": 1}},
    }
    for unknown in ({"type": "array", "prefixItems": []}, {"type": ["string", "null"]}):
        with pytest.raises(ValueError, match="does not know"):
            as_openapi_30({"a": unknown})


def test_every_example_is_valid() -> None:
    registry = {"components": DOCUMENT["components"]}
    checked = 0
    for _, _, operation in operations():
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        for body in (*bodies, *operation["responses"].values()):
            for content in body.get("content", {}).values():
                if "example" in content:
                    schema = {**registry, **content["schema"]}
                    Draft202012Validator(schema).validate(content["example"])
                    checked += 1
    assert checked > 50


def close(example: Any, answer: Any) -> None:
    """The same but for what every answer has of its own: ids, times, and rounding."""
    if isinstance(example, dict):
        assert example.keys() == answer.keys()
        for key in example.keys() - {"id", "created_at", "updated_at", "timing_ms"}:
            close(example[key], answer[key])
    elif isinstance(example, list):
        assert len(example) == len(answer)
        for one, other in zip(example, answer, strict=True):
            close(one, other)
    elif isinstance(example, float):
        assert answer == pytest.approx(example, rel=1e-9, abs=1e-9)
    else:
        assert example == answer


def test_the_examples_are_what_the_service_answers(client: httpx.Client) -> None:
    plan = client.post("/v1/plans", json={**REQUESTS["createPlan"], "keep": True}).json()
    close(RESPONSES["createPlan"]["201"], plan)
    close(RESPONSES["createPlan"]["200"], client.post("/v1/plans", json=REQUESTS["createPlan"]).json())
    kept = client.get("/v1/plans").json()["plans"]
    close(RESPONSES["listPlans"]["200"]["plans"][0], next(one for one in kept if one["id"] == plan["id"]))
    close(RESPONSES["getPlan"]["200"], client.get(f"/v1/plans/{plan['id']}").json())
    close(RESPONSES["getPlanOrders"]["200"], client.get(f"/v1/plans/{plan['id']}/orders?device=2").json())
    first = client.post("/v1/runs", json=REQUESTS["createRun"]).json()
    assert re.fullmatch("run_[0-9a-f]{32}", RUN_ID)
    close(RESPONSES["createRun"]["201"], first)
    place = f"/v1/runs/{first['id']}"
    close(RESPONSES["aggregate"]["200"], client.post(f"{place}/aggregations", json=REQUESTS["aggregate"]).json())
    close(RESPONSES["getAggregation"]["200"], client.get(f"{place}/aggregations/1").json())
    close(RESPONSES["getAggregationOrders"]["200"], client.get(f"{place}/aggregations/1/orders?device=2").json())
    close(RESPONSES["getRun"]["200"], client.get(place).json())
    close(RESPONSES["importFleet"]["200"], client.post("/v1/imports", json=REQUESTS["importFleet"]).json())
    close(RESPONSES["compare"]["200"], client.post("/v1/comparisons", json=REQUESTS["compare"]).json())
    close(RESPONSES["listAggregations"]["200"], client.get(f"{place}/aggregations").json())
    stored = client.post("/v1/networks", json=REQUESTS["createNetwork"]).json()
    close(RESPONSES["createNetwork"]["201"], stored)
    place = f"/v1/networks/{stored['id']}"
    close(RESPONSES["patchNetwork"]["200"], client.patch(place, json=REQUESTS["patchNetwork"]).json())
    close(RESPONSES["getNetwork"]["200"], client.get(place).json())
    networks = client.get("/v1/networks", params={"name": "campus"}).json()["networks"]
    close(RESPONSES["listNetworks"]["200"]["networks"][0], next(one for one in networks if one["id"] == stored["id"]))
    close(RESPONSES["getReadiness"]["200"], client.get("/readyz").json())
    validation = client.post("/v1/validations", json=REQUESTS["createValidation"]).json()
    close(RESPONSES["createValidation"]["202"], validation)
    cancelled = client.post(f"/v1/validations/{validation['id']}/cancel").json()
    close(RESPONSES["cancelValidation"]["200"], {key: cancelled[key] for key in validation})
    assert client.get("/v1/samplers").json().keys() == RESPONSES["listSamplers"]["200"].keys()
    assert all(line in client.get("/metrics").text for line in RESPONSES["getMetrics"]["200"].splitlines())


def test_the_sample_for_archives_runs(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    exec(ARCHIVE_SAMPLE, {"url": server.url})
    assert capsys.readouterr().out.startswith("[0] [")
    exec(NETWORK_ARCHIVE_SAMPLE, {"url": server.url})
    assert capsys.readouterr().out.startswith("/v1/networks/net_")
    exec(RUN_ARCHIVE_SAMPLE, {"url": server.url})
    assert capsys.readouterr().out.startswith("/v1/runs/run_")
