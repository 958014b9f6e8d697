"""Long columns of a JSON body straight into arrays, without a Python object for each number (ADR 0017).

Only bodies that are certainly valid are read this way. Anything else (a wrong type, a repeated name, a nested list, a
number out of range) is left to pydantic, which accepts it or says what is wrong: one place decides what is valid.
Memory is charged before anything is parsed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from app.http.problems import MalformedError
from app.wire import estimate
from app.wire.budget import charge, reserved
from app.wire.estimate import JsonSize, columns_and_objects
from app.wire.fleet_tables import DeviceTable, LinkTable, RowError
from app.wire.pointers import refusal
from solver.network import DEVICE_COLUMNS

try:
    import simdjson

    _AVAILABLE = True
except ImportError:  # no wheel for this Python: pydantic reads every body, more slowly
    _AVAILABLE = False

__all__ = ["read_model", "read_plainly"]

M = TypeVar("M", bound=BaseModel)

# Looking up a field takes time in proportion to the number of fields.
_MOST_FIELDS = 64
# Each error of pydantic about JSON has a copy of the input, five for five fields that are missing beside a long list.
# Errors about Python's objects refer to them, so large bodies are turned into objects first.
_ERRORS_MAY_COPY = 2**25
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The columns of a network that may be long; all other fields are short.
_DEVICES = {**dict.fromkeys(DEVICE_COLUMNS, "numbers"), "label_counts": "matrix"}
_TOPOLOGIES: Mapping[object, Mapping[str, str]] = {
    "links": {"source": "integers", "target": "integers", "similarity": "numbers", "transmit_cost": "numbers"},
    "matrix": dict.fromkeys(("adjacency", "similarity", "transmit_cost"), "matrix"),
}

_CONDITIONS = ("devices", "topology")
# Reports of aggregations.
_REPORTED: Mapping[str, Mapping[str, str]] = {
    "data": {"device": "integers", "datapoints": "numbers"},
    "gradient_norms": {"device": "integers", "norms": "numbers"},
    "delivered": {"source": "integers", "target": "integers", "datapoints": "numbers"},
}


class _OddError(Exception):
    """This reader does not read such a body; pydantic decides about it."""


def read_model(model: type[M], body: bytes) -> M:
    """The model in the body; the columns of its network are arrays where they could be read as such.

    Raises:
        InvalidRequestError: the body breaks rules of the model.
        MalformedError: the body is not JSON.
        TooLargeError: reading it needs more memory than there is for requests.
    """
    size = JsonSize.of(body)
    try:
        with reserved(size.as_arrays(), f"reading JSON of {size.values} values"):
            content = _content(body, size.values)
        return model.model_validate(content)
    except RowError as error:
        raise refusal(error.cause, model) from None
    except (_OddError, ValidationError):
        return read_plainly(model, body)


def read_plainly(model: type[M], body: bytes, size: JsonSize | None = None) -> M:
    """The model in the body, read by pydantic alone; `size` is what it holds, if that is known better than by counting.

    Raises:
        InvalidRequestError: the body breaks rules of the model.
        MalformedError: the body is not JSON.
        TooLargeError: reading it needs more memory than there is for requests.
    """
    size = JsonSize.of(body) if size is None else size
    charge(size.as_objects(), f"checking JSON of {size.values} values one by one")
    try:
        if size.as_objects() < _ERRORS_MAY_COPY:
            return model.model_validate_json(body)
        return model.model_validate(_objects(body))
    except ValidationError as error:
        raise refusal(error, model) from None


def _objects(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError as error:
        raise MalformedError(f"the body is not valid JSON: {error}") from None


def _content(body: bytes, n_values: int) -> dict[str, Any]:
    if not _AVAILABLE or body.startswith(_BYTE_ORDER_MARK):
        raise _OddError
    try:
        root = _items(simdjson.Parser().parse(body))
        if "fleet" in root:
            return _with_fleet(root, n_values)
        root |= _with_arrays(root)
        n_numbers = _numbers(root)
        if not n_numbers:
            raise _OddError
        charge(columns_and_objects(n_numbers, n_values - n_numbers), f"JSON of {n_values} values")
        content: dict[str, Any] = _plain(root)
        # Reading a list as an array accepts nested lists too: a bracket too many means that pydantic must decide.
        odd = body.count(b"[") != _brackets(content)
    except (KeyError, ValueError, TypeError, RuntimeError):  # the last also of too deep a recursion
        raise _OddError from None
    if odd:
        raise _OddError
    return content


def _with_arrays(root: dict[str, Any]) -> dict[str, Any]:
    """The fields of a body that may be long, with arrays for their columns: a network, changes of it, reports."""
    made: dict[str, Any] = {}
    if "network" in root:
        network = _items(root["network"])
        made["network"] = network | _columns(network, ("devices", "topology"))
    if "schedule" in root:
        if not isinstance(root["schedule"], simdjson.Array):
            raise _OddError
        changes = map(_items, root["schedule"])
        made["schedule"] = [one | _columns(one, [name for name in _CONDITIONS if name in one]) for one in changes]
    for name in _REPORTED.keys() & root.keys():
        made[name] = {field: _array(value, _REPORTED[name].get(field)) for field, value in _items(root[name]).items()}
    return made


def _columns(fields: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The devices and the topology of a network, or those of them that change."""
    made = {}
    for name in names:
        table = _items(fields[name])
        kinds = _DEVICES if name == "devices" else _TOPOLOGIES[table["kind"]]
        made[name] = {field: _array(value, kinds.get(field)) for field, value in table.items()}
    return made


def _numbers(value: Any) -> int:
    """The numbers that are in arrays."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        return sum(map(_numbers, value.values()))
    return sum(map(_numbers, value)) if isinstance(value, list) else 0


def _with_fleet(root: dict[str, Any], n_values: int) -> dict[str, Any]:
    """The content of a body with a fleet. Its devices and links are checked by pydantic, some at a time."""
    fleet = _items(root.pop("fleet"))
    devices, links = _Rows(fleet.pop("devices")), _Rows(fleet.pop("links"))
    if not len(devices):
        raise _OddError
    tables = estimate.fleet(len(devices), len(links), n_values)
    charge(tables, f"a fleet of {len(devices)} devices and {len(links)} links")
    made = {"devices": DeviceTable.of(devices), "links": LinkTable.of(links)}
    charge(columns_and_objects(0, n_values - devices.values - links.values), f"JSON of {n_values} values")
    content: dict[str, Any] = _plain({**root, "fleet": fleet})
    content["fleet"] |= made
    return content


class _Rows:
    """A list of objects, made one after the other; `values` counts those in them."""

    def __init__(self, rows: Any) -> None:
        if not isinstance(rows, simdjson.Array):
            raise _OddError
        self._rows = rows
        self.values = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        for row in self._rows:
            if not isinstance(row, simdjson.Object):
                raise _OddError
            made = row.as_dict()
            self.values += len(made) + sum(len(one) for one in made.values() if isinstance(one, dict))
            yield made


def _items(value: Any) -> dict[str, Any]:
    """The fields of an object, none of them named twice."""
    if not isinstance(value, simdjson.Object):
        raise _OddError
    if len(value) > _MOST_FIELDS:
        raise _OddError
    names = list(value.keys())
    if len(set(names)) != len(names):
        raise _OddError
    return {name: value[name] for name in names}


def _array(value: Any, kind: str | None) -> Any:
    """The list of numbers as an array, or its rows as a matrix; a short field stays as it is."""
    if kind is None:
        return value
    if not isinstance(value, simdjson.Array):
        raise _OddError
    if kind == "integers":
        return np.frombuffer(value.as_buffer(of_type="i"), dtype=np.int64)
    numbers = np.frombuffer(value.as_buffer(of_type="d"), dtype=np.float64)
    if kind == "numbers":
        return numbers
    widths = {len(row) for row in value if isinstance(row, simdjson.Array)}
    if len(widths) != 1:
        raise _OddError
    return numbers.reshape(len(value), *widths)


def _plain(value: Any) -> Any:
    """The value in Python's own types, arrays as they are."""
    if isinstance(value, simdjson.Object):
        value = _items(value)
    if isinstance(value, dict):
        return {name: _plain(field) for name, field in value.items()}
    if isinstance(value, simdjson.Array | list):
        return [_plain(item) for item in value]
    return value


def _brackets(value: Any) -> int:
    """The number of lists in the value's JSON."""
    if isinstance(value, dict):
        return sum(map(_brackets, value.values()))
    if isinstance(value, np.ndarray):
        return 1 if value.ndim == 1 else 1 + value.shape[0]
    return 1 + sum(map(_brackets, value)) if isinstance(value, list) else 0
