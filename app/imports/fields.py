"""The fields of a fleet: which values they may have, and the units in which a file may give them.

A name may be followed by a unit in brackets, as in `airtime_seconds [ms]`; without one the field's own unit is meant.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.imports.draft import Row
from solver.errors import InvalidInputError

__all__ = ["DEVICE_FIELDS", "LINK_FIELDS", "SETTINGS", "Fields", "Number"]

_TIME = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
_RATE = {"Mbit/s": 1.0, "Mbps": 1.0, "kbit/s": 1e-3, "kbps": 1e-3, "Gbit/s": 1e3, "Gbps": 1e3, "bit/s": 1e-6}
_ENERGY = {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "Wh": 3600.0}
_SHARE = {"%": 0.01}
_SIZE = {"B": 1.0, "bytes": 1.0, "kB": 1e3, "MB": 1e6}


@dataclass(frozen=True)
class Number:
    """A number from `least` to `most`; `above` and `below` leave the ends out. `units` has the worth of each unit."""

    units: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0
    most: float = math.inf
    above: bool = False
    below: bool = False
    endless: bool = False

    def read(self, value: Any, place: str, name: str, worth: float = 1.0) -> float | int:
        """The value in the field's own unit; whole numbers are ints.

        Raises:
            InvalidInputError: it is no such number.
        """
        try:
            number = float(value) * worth
        except (TypeError, ValueError, OverflowError):
            raise InvalidInputError(place, f"{name} {_shown(value)} is not a number") from None
        low = number > self.least if self.above else number >= self.least
        high = number < self.most if self.below else number <= self.most
        if isinstance(value, bool) or not (low and high) or (math.isinf(number) and not self.endless):
            raise InvalidInputError(place, f"{name} {_shown(value)} must be {self._rule()}")
        return int(number) if number.is_integer() and number < 1e15 else number

    def _rule(self) -> str:
        low = f"{'above' if self.above else 'at least'} {self.least:g}"
        if math.isinf(self.most):
            return f"{low} and finite"
        return f"{low} and {'below' if self.below else 'at most'} {self.most:g}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _text(value: Any, place: str, name: str, _: float) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidInputError(place, f"{name} {_shown(value)} must be text")
    return str(value)


def _flag(value: Any, place: str, name: str, _: float) -> bool:
    found = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(str(value).lower())
    if found is None:
        raise InvalidInputError(place, f"{name} {_shown(value)} must be true or false")
    return found


def _counts(value: Any, place: str, name: str, _: float) -> dict[str, float | int]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(place, f"{name} must be an object: class to count")
    return {str(key): Number().read(count, place, f"{name}.{key}") for key, count in value.items()}


Read = Callable[[Any, str, str, float], Any]

SETTINGS = {
    "step_seconds": Number(_TIME, above=True),
    "datapoint_bytes": Number(_SIZE, above=True),
    "epochs_per_step": Number(above=True),
}
DEVICE_FIELDS: dict[str, Number | Read] = {
    "id": _text,
    "datapoints": Number(),
    "samples_per_second": Number({"1/s": 1.0, "Hz": 1.0}, above=True),
    "load": Number(_SHARE, most=1, below=True),
    "storage_datapoints": Number(),
    "airtime_seconds": Number(_TIME),
    "joules_per_sample": Number(_ENERGY),
    "label_counts": _counts,
    "group": _text,
    "may_train": _flag,
    "may_send": _flag,
    "latitude": Number({"°": 1.0, "deg": 1.0}, least=-90, most=90),
    "longitude": Number({"°": 1.0, "deg": 1.0}, least=-180, most=180),
}
# The last two become `loss`.
LINK_FIELDS: dict[str, Number | Read] = {
    "from": _text,
    "to": _text,
    "mbps": Number(_RATE, above=True),
    "loss": Number(_SHARE, most=1),
    "joules_per_megabyte": Number({f"{unit}/MB": worth for unit, worth in _ENERGY.items()}),
    "similarity": Number(_SHARE, most=1),
    "quality": Number(_SHARE, most=1),
    "etx": Number(least=1, endless=True),
}
_OTHER_NAMES = {"lat": "latitude", "lon": "longitude", "lng": "longitude", "source": "from", "target": "to"}
_HEADING = re.compile(r"\s*([^\[(]*?)\s*(?:[\[(]([^\])]*)[\])]\s*)?")


class Fields:
    """Reads rows by a table of fields; `ignored` counts the names that are not in it."""

    def __init__(self, table: Mapping[str, Number | Read]) -> None:
        self._table = table
        self._known: dict[str, tuple[str, Read, float] | None] = {}
        self.ignored: Counter[str] = Counter()

    def read(self, row: Row) -> dict[str, Any]:
        """The known values of a row; what is empty or null is left out.

        Raises:
            InvalidInputError: a value is not what its field takes; the text has the row's place.
        """
        found = {}
        for key, value in row.values.items():
            if value is None or value == "":
                continue
            if key not in self._known:
                self._known[key] = self._resolve(key, row.place)
            known = self._known[key]
            if known is None:
                self.ignored[key] += 1
            else:
                name, read, worth = known
                found[name] = read(value, row.place, name, worth)
        return found

    def _resolve(self, key: str, place: str) -> tuple[str, Read, float] | None:
        parts = _HEADING.fullmatch(key)
        name, unit = parts.groups() if parts else (key, None)
        name = _OTHER_NAMES.get(name, name)
        kind = self._table.get(name)
        if kind is None:
            return None
        if not isinstance(kind, Number):
            return name, kind, 1.0
        worth = 1.0 if unit is None else kind.units.get(unit)
        if worth is None:
            known = f"known: {', '.join(kind.units)}" if kind.units else "it has none"
            raise InvalidInputError(place, f"{name} has the unknown unit {unit!r}; {known}")
        return name, kind.read, worth
