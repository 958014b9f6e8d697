"""The fields of a fleet: which values they may have, and the units in which a file may give them.

A name may be followed by a unit in brackets, as in `airtime_seconds [ms]`; without one the field's own unit is meant.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.imports.draft import Row
from app.wire.pointers import nearest
from solver.errors import InvalidInputError

__all__ = ["DEVICE_FIELDS", "LABEL_FIELDS", "LINK_FIELDS", "SETTINGS", "Fields", "Ignored", "Number", "shown"]

_TIME = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
_RATE = {"Mbit/s": 1.0, "Mbps": 1.0, "kbit/s": 1e-3, "kbps": 1e-3, "Gbit/s": 1e3, "Gbps": 1e3, "bit/s": 1e-6}
_ENERGY = {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "Wh": 3600.0}
_SHARE = {"%": 0.01}
# Characters of an id or a group.
_LONGEST = 128
_SIZE = {"B": 1.0, "bytes": 1.0, "kB": 1e3, "MB": 1e6}


@dataclass(frozen=True)
class Number:
    """A number from `least` to `most`; `units` has the worth of each unit. The ranges are those of the service."""

    units: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0
    most: float = 1e12

    def read(self, value: Any, place: str, name: str, worth: float = 1.0) -> float | int:
        """The value in the field's own unit; whole numbers are ints.

        Raises:
            InvalidInputError: it is no such number.
        """
        try:
            number = float(value) * worth
        except (TypeError, ValueError, OverflowError):
            raise InvalidInputError(place, f"{name} {shown(value)} is not a number") from None
        if isinstance(value, bool) or not self.least <= number <= self.most:
            raise InvalidInputError(place, f"{name} {shown(value)} must be from {self.least:g} to {self.most:g}")
        return int(number) if number.is_integer() else number


def shown(value: Any) -> str:
    """The beginning of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _text(value: Any, place: str, name: str, _: float) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidInputError(place, f"{name} {shown(value)} must be text")
    text = str(value)
    if len(text) > _LONGEST:
        raise InvalidInputError(place, f"{name} {shown(value)} is longer than {_LONGEST} characters")
    return text


def _flag(value: Any, place: str, name: str, _: float) -> bool:
    found = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(str(value).lower())
    if found is None:
        raise InvalidInputError(place, f"{name} {shown(value)} must be true or false")
    return found


def _counts(value: Any, place: str, name: str, _: float) -> dict[str, float | int]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(place, f"{name} must be an object: class to count")
    return {str(key): Number().read(count, place, f"{name}.{key}") for key, count in value.items()}


Read = Callable[[Any, str, str, float], Any]

SETTINGS: dict[str, Number | Read] = {
    "step_seconds": Number(_TIME, 1e-3, 1e9),
    "datapoint_bytes": Number(_SIZE, 1, 1e9),
    "epochs_per_step": Number({}, 1e-3, 1e6),
}
DEVICE_FIELDS: dict[str, Number | Read] = {
    "id": _text,
    "datapoints": Number(),
    "samples_per_second": Number({"1/s": 1.0, "Hz": 1.0}, 1e-6, 1e9),
    "load": Number(_SHARE, most=1),
    "storage_datapoints": Number(),
    "airtime_seconds": Number(_TIME, most=1e9),
    "joules_per_sample": Number(_ENERGY, most=1e6),
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
    "mbps": Number(_RATE, 1e-3, 1e6),
    "loss": Number(_SHARE, most=1),
    "joules_per_megabyte": Number({f"{unit}/MB": worth for unit, worth in _ENERGY.items()}, most=1e6),
    "similarity": Number(_SHARE, most=1),
    "quality": Number(_SHARE, most=1),
    "etx": Number(least=1, most=math.inf),
}
LABEL_FIELDS: dict[str, Number | Read] = {"id": _text, "class": _text, "count": Number()}
_OTHER_NAMES = {"lat": "latitude", "lon": "longitude", "lng": "longitude", "source": "from", "target": "to"}
# So many unknown names are compared with those of fields: a file may have any number of them.
_COMPARED = 20
_HEADING = re.compile(r"([^\[(]*+)(?:[\[(]([^\])]*+)[\])])?")


@dataclass(frozen=True)
class Ignored:
    """A name in a file that no field has, the first place where it stands, and the field that may be meant."""

    name: str
    place: str
    near: str | None = None

    @property
    def hint(self) -> str:
        """What to write after the name."""
        return f" (did you mean `{self.near}`?)" if self.near else ""


class Fields:
    """Reads rows by a table of fields."""

    def __init__(self, table: Mapping[str, Number | Read]) -> None:
        self._table = table
        self._known: dict[str, tuple[str, Read, float] | None] = {}
        self._ignored: dict[str, str] = {}

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
                self._ignored.setdefault(key, row.place)
            else:
                name, read, worth = known
                found[name] = read(value, row.place, name, worth)
        return found

    def ignored(self) -> list[Ignored]:
        """The names that are not in the table; of the fields that no row had, each may have meant the nearest."""
        had = {known[0] for known in self._known.values() if known is not None}
        lacking = [name for name in self._table if name not in had]
        return [
            Ignored(name, place, nearest(name, lacking) if number < _COMPARED else None)
            for number, (name, place) in enumerate(self._ignored.items())
        ]

    def _resolve(self, key: str, place: str) -> tuple[str, Read, float] | None:
        parts = _HEADING.fullmatch(key.strip())
        name, unit = (parts[1].strip(), parts[2]) if parts else (key, None)
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
