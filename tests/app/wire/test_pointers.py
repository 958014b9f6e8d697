"""From a complaint of a model or of the domain to a place in the request, without the caller's own words."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.http.problems import ERROR_LIMIT, InvalidRequestError, MalformedError
from app.wire.pointers import located, refusal
from solver import InvalidInputError


class Links(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["links"]
    cost: list[int]


class Matrix(BaseModel):
    kind: Literal["matrix"]


class Change(BaseModel):
    model_config = ConfigDict(extra="forbid")
    step: int = 1


class Network(BaseModel):
    model_config = ConfigDict(extra="forbid")
    topology: Annotated[Links | Matrix, Field(discriminator="kind")]
    schedule: list[Change] = []


def refused(body: str) -> Any:
    with pytest.raises(ValidationError) as caught:
        Network.model_validate_json(body)
    return refusal(caught.value, Network)


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ('{"topology": {"kind": "links", "cost": [1, "x"]}}', "/topology/cost/1", "integer"),
        ('{"topology": {"kind": "links"}}', "/topology/cost", "required"),
        ('{"topology": {"kind": "secret"}}', "/topology/kind", "must be 'links' or 'matrix'"),
        ('{"topology": {}}', "/topology/kind", "is missing"),
    ],
)
def test_models_complaints_get_their_place_and_echo_nothing(body: str, pointer: str, detail: str) -> None:
    (item,) = refused(body).errors
    assert item.pointer == pointer
    assert detail in item.detail
    assert "secret" not in item.pointer + item.detail


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ('{"topology": {"kind": "matrix"}, "topologie": 1}', "/topologie", "; did you mean `topology`?"),
        ('{"topology": {"kind": "matrix"}, "x/y~z": 1}', "/x~1y~0z", ""),
        ('{"topology": {"kind": "links", "cost": [], "costs": []}}', "/topology/costs", "; did you mean `cost`?"),
        ('{"topology": {"kind": "matrix"}, "schedule": [{"stop": 1}]}', "/schedule/0/stop", "; did you mean `step`?"),
        ('{"topology": {"kind": "matrix"}, "%s": 1}' % ("q" * 1000), "/" + "q" * 64, ""),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest_known_one(body: str, pointer: str, detail: str) -> None:
    (item,) = refused(body).errors
    assert item.pointer == pointer
    assert item.detail == f"does not exist here{detail}"


def test_what_is_not_json_is_malformed_and_the_place_is_named() -> None:
    refusal = refused('{\n  "topology": {"kind": "matrix"},\n}')
    assert isinstance(refusal, MalformedError)
    assert refusal.detail == "the body is not valid JSON: trailing comma at line 3 column 1"


@pytest.mark.parametrize(("count", "listed"), [(ERROR_LIMIT + 5, ERROR_LIMIT), (5000, 1)])
def test_many_complaints_are_counted_and_few_are_listed(count: int, listed: int) -> None:
    costs = ", ".join(['"x"'] * count)
    error = refused(f'{{"topology": {{"kind": "links", "cost": [{costs}]}}}}')
    assert error.detail == f"{count} rules are broken"
    assert len(error.errors) == listed


@pytest.mark.parametrize(
    ("field", "index", "pointer"),
    [
        ("links.cost", 3, "/network/topology/cost/3"),
        ("links.cost", (1, 2), "/network/topology/cost/1/2"),
        ("links", None, "/network/topology"),
        ("horizon", None, "/horizon"),
    ],
)
def test_the_domains_complaints_lead_to_where_the_field_came_from(field: str, index: Any, pointer: str) -> None:
    with pytest.raises(InvalidRequestError) as caught, located({"links": "/network/topology"}):
        raise InvalidInputError(field, "is wrong", index=index)
    assert [(item.pointer, item.detail) for item in caught.value.errors] == [(pointer, "is wrong")]
