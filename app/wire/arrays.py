"""Long columns of a JSON body straight into arrays, without a Python object for each number (ADR 0017).

Only bodies that are certainly valid are read this way. Anything else (a wrong type, a repeated name, a nested list, a
number out of range) is left to pydantic, which accepts it or says what is wrong: one place decides what is valid.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from solver.network import DEVICE_COLUMNS

try:
    import simdjson

    _AVAILABLE = True
except ImportError:  # no wheel for this Python: pydantic reads every body, more slowly
    _AVAILABLE = False

__all__ = ["read_model"]

M = TypeVar("M", bound=BaseModel)

# Looking up a field takes time in proportion to the number of fields.
_MOST_FIELDS = 64
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The columns of a network that may be long; all other fields are short.
_DEVICES = {**dict.fromkeys(DEVICE_COLUMNS, "numbers"), "label_counts": "matrix"}
_TOPOLOGIES: Mapping[object, Mapping[str, str]] = {
    "links": {"source": "integers", "target": "integers", "similarity": "numbers", "transmit_cost": "numbers"},
    "matrix": dict.fromkeys(("adjacency", "similarity", "transmit_cost"), "matrix"),
}


class _OddError(Exception):
    """This reader does not read such a body; pydantic decides about it."""


def read_model(model: type[M], body: bytes) -> M:
    """The model in the body; the columns of its network are arrays where they could be read as such.

    Raises:
        ValidationError: the body is not valid.
    """
    try:
        return model.model_validate(_content(body))
    except (_OddError, ValidationError):
        return model.model_validate_json(body)


def _content(body: bytes) -> dict[str, Any]:
    if not _AVAILABLE or body.startswith(_BYTE_ORDER_MARK):
        raise _OddError
    try:
        root = _items(simdjson.Parser().parse(body))
        network = _items(root.pop("network"))
        devices, topology = _items(network.pop("devices")), _items(network.pop("topology"))
        columns = _TOPOLOGIES[topology["kind"]]
        content = {
            **_plain(root),
            "network": {
                **_plain(network),
                "devices": _plain({name: _array(value, _DEVICES.get(name)) for name, value in devices.items()}),
                "topology": _plain({name: _array(value, columns.get(name)) for name, value in topology.items()}),
            },
        }
        # Reading a list as an array accepts nested lists too: a bracket too many means that pydantic must decide.
        odd = body.count(b"[") != _brackets(content)
    except (KeyError, ValueError, TypeError, RuntimeError):  # the last also of too deep a recursion
        raise _OddError from None
    if odd:
        raise _OddError
    return content


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
    if isinstance(value, simdjson.Array):
        return [_plain(item) for item in value]
    return value


def _brackets(value: Any) -> int:
    """The number of lists in the value's JSON."""
    if isinstance(value, dict):
        return sum(map(_brackets, value.values()))
    if isinstance(value, np.ndarray):
        return 1 if value.ndim == 1 else 1 + value.shape[0]
    return 1 + sum(map(_brackets, value)) if isinstance(value, list) else 0
