"""Fleets as columns: the fast reader against the plain one, and the memory that both charge."""

import json
from typing import Any

import pytest

from app.http.problems import InvalidRequestError, TooLargeError
from app.plans.request import PlanRequest
from app.wire.arrays import read_model, read_plainly
from app.wire.budget import MemoryBudget
from app.wire.fleet import FleetIn
from app.wire.fleet_tables import FleetDevice
from tests.support.fleets import FLEET, random_fleet


def body_of(fleet: Any) -> bytes:
    return json.dumps({"fleet": fleet, "sample_size": 1, "horizon": 1, "eligible": [0]}).encode()


def outcome(read: Any, body: bytes) -> Any:
    try:
        request = read(PlanRequest, body)
    except InvalidRequestError as error:
        return [dict(one) for one in error.errors]
    return request.model_dump(exclude_unset=True)


def changed(*place: Any, value: Any) -> dict[str, Any]:
    fleet: Any = json.loads(json.dumps(FLEET))
    part = fleet
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return fleet  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "fleet",
    [
        FLEET,
        random_fleet(0, 30),
        random_fleet(1, 1200, links=2),
        changed("devices", 2, "load", value=True),
        changed("devices", 2, "speed", value=1),
        changed("devices", 2, "label_counts", value={"car": None}),
        changed("devices", 2, value=[1]),
        changed("devices", value={}),
        changed("devices", value=[]),
        changed("links", value=[]),
        changed("links", 4, "to", value=7),
        changed("links", 4, "from", value=""),
        changed("speed", value=7),
        7,
        [],
    ],
)
def test_both_readers_read_alike(fleet: Any) -> None:
    body = body_of(fleet)
    fast, plain = outcome(read_model, body), outcome(read_plainly, body)
    assert fast == plain


def test_columns_give_back_what_was_sent() -> None:
    for fleet in (FLEET, random_fleet(2, 40)):
        read = FleetIn.model_validate_json(json.dumps(fleet))
        again = json.loads(read.model_dump_json(exclude_unset=True))
        for row in fleet["devices"]:
            for name in ("may_train", "may_send"):  # true is the default
                if row.get(name):
                    del row[name]
        assert again == fleet
        assert all(FleetDevice.model_validate(row) for row in again["devices"])


def test_a_repeated_field_counts_as_the_last_one_in_both_readers() -> None:
    body = body_of(FLEET).replace(b'"load": 0.5', b'"load": 0.5, "load": 0.25')
    assert outcome(read_model, body) == outcome(read_plainly, body)
    fleet = read_model(PlanRequest, body).fleet
    assert fleet is not None
    assert fleet.devices.numbers["load"][0] == 0.25


def test_a_fleet_is_charged_before_it_is_read() -> None:
    body = body_of(random_fleet(3, 2000))
    memory = MemoryBudget(12_000_000, 1)
    with memory.account(), pytest.raises(TooLargeError, match="a fleet of 2000 devices and 8000 links"):
        read_model(PlanRequest, body)
    with MemoryBudget(40_000_000, 1).account():
        read_model(PlanRequest, body)
