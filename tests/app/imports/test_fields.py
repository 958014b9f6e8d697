"""An import lets through what the service takes: the same names and the same ranges."""

from typing import Any

import pytest
from pydantic import BaseModel

from app.imports.fields import DEVICE_FIELDS, LINK_FIELDS, SETTINGS, Number, Read
from app.wire.fleet import FleetIn
from app.wire.fleet_tables import FleetDevice, FleetLink

# Read from files only: they become `loss`, and a link that loses everything is left out.
FROM_FILES = {"quality", "etx"}


@pytest.mark.parametrize(
    ("model", "table", "others"),
    [
        (FleetDevice, DEVICE_FIELDS, set()),
        (FleetLink, LINK_FIELDS, set()),
        (FleetIn, dict(SETTINGS), {"devices", "links", "label_noise"}),
    ],
)
def test_fields_are_those_of_a_fleet(model: type[BaseModel], table: dict[str, Number | Read], others: set[str]) -> None:
    schema: dict[str, dict[str, Any]] = model.model_json_schema()["properties"]
    assert set(table) - FROM_FILES == set(schema) - others
    for name, kind in table.items():
        if isinstance(kind, Number) and name not in {*FROM_FILES, "loss"}:
            assert (kind.least, kind.most) == (schema[name]["minimum"], schema[name]["maximum"]), name
