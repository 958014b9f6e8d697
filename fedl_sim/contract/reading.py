"""Reading JSON with types: every mistake is a `ContractError` that names the field."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from fedl_sim.contract.errors import ContractError

__all__ = ["Fields", "Json", "decode", "require"]

Json = dict[str, Any]
T = TypeVar("T")

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "an integer", float: "a number"}


def decode(text: str | bytes) -> object:
    """Parse JSON.

    Raises:
        ContractError: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError("", f"is not JSON: {error}") from error


def require(holds: bool, field: str, reason: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise unless a rule holds."""
    if not holds:
        raise ContractError(field, reason)


class Fields:
    """The fields of a JSON object, each read with its type.

    A field that nobody knows is refused: it may come from a later release, and to ignore it would train something else.
    """

    def __init__(self, value: object, known: Iterable[str]) -> None:
        if not isinstance(value, dict):
            raise ContractError("", f"must be an object, is {_kind(value)}")
        for name in value:
            require(name in known, str(name), "is not a field of this release")
        self._value = value

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._value.get(name) is not None

    def text(self, name: str) -> str:
        """A text."""
        return str(self._typed(name, str))

    def integer(self, name: str) -> int:
        """An integer; 3.0 is none."""
        return int(self._typed(name, int))

    def number(self, name: str) -> float:
        """An integer or a float."""
        return float(self._typed(name, float, int))

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of integers."""
        return tuple(self._column(name, {int}, "integers"))

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of integers and floats."""
        return tuple(self._column(name, {int, float}, "numbers"))

    def rows(self, name: str) -> tuple[tuple[float, ...], ...]:
        """A list of lists of numbers."""
        found = self._typed(name, list)
        for i, row in enumerate(found):
            if not isinstance(row, list) or not set(map(type, row)) <= {int, float}:
                raise ContractError(f"{name}[{i}]", "must be a list of numbers")
        return tuple(map(tuple, found))

    def child(self, name: str, read: Callable[[object], T]) -> T:
        """An object, read by its own class."""
        found = self._typed(name, dict)
        try:
            return read(found)
        except ContractError as error:
            raise error.within(name) from error

    def children(self, name: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """A list of objects."""
        found = []
        for i, one in enumerate(self._typed(name, list)):
            try:
                found.append(read(one))
            except ContractError as error:
                raise error.within(f"{name}[{i}]") from error
        return tuple(found)

    def _column(self, name: str, kinds: set[type], what: str) -> list[Any]:
        found: list[Any] = self._typed(name, list)
        # By type and not by isinstance: a boolean is an int to Python. And at C speed: networks are large.
        require(set(map(type, found)) <= kinds, name, f"must be a list of {what}")
        return found

    def _typed(self, name: str, *kinds: type) -> Any:
        if name not in self._value:
            raise ContractError(name, "is missing")
        found = self._value[name]
        if type(found) not in kinds:
            raise ContractError(name, f"must be {_KINDS[kinds[0]]}, is {_kind(found)}")
        return found


def _kind(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)
