"""The devices and links of a fleet as columns: a large fleet as one object for each device would not fit in memory.

A body is read in pieces (`DeviceTable.of`, `LinkTable.of`); the objects of a piece are gone before the next is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails

from app.wire.base import LARGEST, Optional, RequestModel
from app.wire.ids import DeviceId

__all__ = ["DeviceTable", "FleetDevice", "FleetLink", "LinkTable", "RowError"]

FloatArray = NDArray[np.float64]
T = TypeVar("T")

_PIECE = 1000
_Name = Annotated[str, Field(min_length=1, max_length=128)]
_Count = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
_Joules = Annotated[float, Field(ge=0, le=1e6)]


class RowError(Exception):
    """Rows are not valid; the cause points to those of the first piece that has any."""

    def __init__(self, cause: ValidationError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FleetDevice(RequestModel):
    """A device as its owner knows it."""

    id: DeviceId
    datapoints: Annotated[float, Field(ge=0, le=LARGEST, description="How many it holds.")]
    samples_per_second: Annotated[
        float, Field(ge=1e-6, le=1e9, description="Datapoints that it trains on in a second, with nothing else to do.")
    ]
    load: Optional[Annotated[float, Field(ge=0, le=1)]] = Field(
        None, description="Share of its time that other work takes; 0 if left out."
    )
    storage_datapoints: Optional[Annotated[float, Field(ge=0, le=LARGEST)]] = Field(
        None, description="The most datapoints that it can hold; no limit if left out."
    )
    airtime_seconds: Optional[Annotated[float, Field(ge=0, le=1e9)]] = Field(
        None, description="Seconds of a step that it may use its radio; the whole step if left out."
    )
    joules_per_sample: Optional[_Joules] = Field(
        None, description="Energy to train on a datapoint once; not counted if left out."
    )
    label_counts: Optional[dict[str, _Count]] = Field(
        None, description="Datapoints of each class, by its name. Only counts with `label_noise` may be negative."
    )
    group: Optional[_Name] = Field(
        None, description="Its trust group. Data stays within a group; devices without one are among themselves."
    )
    latitude: Optional[Annotated[float, Field(ge=-90, le=90)]] = Field(None, description="Degrees, for maps only.")
    longitude: Optional[Annotated[float, Field(ge=-180, le=180)]] = Field(None, description="Likewise.")
    may_train: Annotated[bool, Field(description="If false, it is never sampled.")] = True
    may_send: Annotated[bool, Field(description="If false, it sends no data.")] = True


class FleetLink(RequestModel):
    """A link in one direction."""

    from_: DeviceId = Field(alias="from", description="The id of the device that sends.")
    to: Annotated[DeviceId, Field(description="The id of the device that receives.")]
    mbps: Annotated[float, Field(ge=1e-3, le=1e6, description="Its rate, in 10⁶ bits a second.")]
    loss: Optional[Annotated[float, Field(ge=0, le=0.999)]] = Field(
        None, description="Share of what is sent that has to be sent again; 0 if left out."
    )
    joules_per_megabyte: Optional[_Joules] = Field(
        None,
        description="Energy to send 10⁶ bytes once; bytes that are sent again count again. Not counted if left out.",
    )
    similarity: Optional[Annotated[float, Field(ge=0, le=1)]] = Field(
        None, description="Share of the sender's data that the receiver covers already, if it was measured."
    )


DEVICE_NUMBERS = (
    "datapoints",
    "samples_per_second",
    "load",
    "storage_datapoints",
    "airtime_seconds",
    "joules_per_sample",
    "latitude",
    "longitude",
)
LINK_NUMBERS = ("mbps", "loss", "joules_per_megabyte", "similarity")


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """Columns of devices; a number that was left out is NaN.

    Device `label_device[j]` counted `label_count[j]` datapoints of the class `classes[label_class[j]]`. `group` has
    numbers of `groups`, −1 for none. `counted` are the devices that gave label counts at all.
    """

    id: list[str]
    numbers: dict[str, FloatArray]
    may_train: NDArray[np.bool_]
    may_send: NDArray[np.bool_]
    groups: list[str]
    group: NDArray[np.int64]
    classes: list[str]
    counted: NDArray[np.bool_]
    label_device: NDArray[np.int64]
    label_class: NDArray[np.int64]
    label_count: FloatArray

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "DeviceTable":
        """The columns of rows: models, or objects that are still to be checked.

        Raises:
            RowError: a row is not valid.
        """
        groups: dict[str, int] = {}
        classes: dict[str, int] = {}
        ids: list[str] = []
        pieces: list[dict[str, NDArray[Any]]] = []
        for piece in _pieces(_DEVICES, "devices", rows):
            labels = [(len(ids) + j, one.label_counts.items()) for j, one in enumerate(piece) if one.label_counts]
            counts = [(k, classes.setdefault(name, len(classes)), count) for k, row in labels for name, count in row]
            pieces.append(
                _columns(piece, DEVICE_NUMBERS)
                | {
                    "may_train": np.array([one.may_train for one in piece]),
                    "may_send": np.array([one.may_send for one in piece]),
                    "group": np.array([_code(groups, one.group) for one in piece], np.int64),
                    "counted": np.array([one.label_counts is not None for one in piece]),
                    "label_device": np.array([k for k, _, _ in counts], np.int64),
                    "label_class": np.array([c for _, c, _ in counts], np.int64),
                    "label_count": np.array([count for _, _, count in counts], np.float64),
                }
            )
            ids.extend(one.id for one in piece)
        columns = _joined(pieces)
        numbers = {name: columns.pop(name) for name in DEVICE_NUMBERS}
        return cls(id=ids, numbers=numbers, groups=list(groups), classes=list(classes), **columns)

    def __len__(self) -> int:
        return len(self.id)

    def rows(self) -> list[dict[str, Any]]:
        """The devices as they were sent; defaults that were spelt out are left out."""
        rows = [{"id": name, **numbers} for name, numbers in zip(self.id, _numbers(self.numbers), strict=True)]
        for name in ("may_train", "may_send"):
            for number in np.flatnonzero(~getattr(self, name)).tolist():
                rows[number][name] = False
        for number in np.flatnonzero(self.group >= 0).tolist():
            rows[number]["group"] = self.groups[self.group[number]]
        for number in np.flatnonzero(self.counted).tolist():
            rows[number]["label_counts"] = {}
        for device, label, count in zip(
            self.label_device.tolist(), self.label_class.tolist(), self.label_count.tolist(), strict=True
        ):
            rows[device]["label_counts"][self.classes[label]] = count
        return rows


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Columns of links; a number that was left out is NaN. `source` and `target` have numbers of `ends`."""

    ends: list[str]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    numbers: dict[str, FloatArray]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "LinkTable":
        """The columns of rows, as for devices.

        Raises:
            RowError: a row is not valid.
        """
        ends: dict[str, int] = {}
        pieces = [
            _columns(piece, LINK_NUMBERS)
            | {
                "source": np.array([_code(ends, one.from_) for one in piece], np.int64),
                "target": np.array([_code(ends, one.to) for one in piece], np.int64),
            }
            for piece in _pieces(_LINKS, "links", rows)
        ]
        if not pieces:
            nothing = np.empty(0, np.int64)
            return cls([], nothing, nothing, {name: np.empty(0) for name in LINK_NUMBERS})
        columns = _joined(pieces)
        numbers = {name: columns.pop(name) for name in LINK_NUMBERS}
        return cls(ends=list(ends), numbers=numbers, **columns)

    def __len__(self) -> int:
        return int(self.source.size)

    def rows(self) -> list[dict[str, Any]]:
        """The links as they were sent."""
        ends = zip(self.source.tolist(), self.target.tolist(), strict=True)
        return [
            {"from": self.ends[source], "to": self.ends[target], **numbers}
            for (source, target), numbers in zip(ends, _numbers(self.numbers), strict=True)
        ]


_DEVICES: TypeAdapter[list[FleetDevice]] = TypeAdapter(list[FleetDevice])
_LINKS: TypeAdapter[list[FleetLink]] = TypeAdapter(list[FleetLink])


def _pieces(adapter: TypeAdapter[list[T]], table: str, rows: Iterable[Any]) -> Iterator[list[T]]:
    """The rows as models, some at a time."""
    left, begin = iter(rows), 0
    for first in left:
        piece = [first, *islice(left, _PIECE - 1)]
        try:
            yield adapter.validate_python(piece)
        except ValidationError as error:
            raise RowError(_placed(error, table, begin)) from None
        begin += len(piece)


def _placed(error: ValidationError, table: str, begin: int) -> ValidationError:
    """The error of a piece as one of the request."""
    found = [
        InitErrorDetails(
            type=one["type"],
            loc=("fleet", table, begin + int(one["loc"][0]), *one["loc"][1:]),
            input=None,
            ctx=one.get("ctx", {}),
        )
        for one in error.errors(include_url=False, include_input=False)
    ]
    return ValidationError.from_exception_data(error.title, found)


def _columns(piece: Sequence[Any], names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    # None becomes NaN.
    return {name: np.array([getattr(one, name) for one in piece], dtype=np.float64) for name in names}


def _joined(pieces: list[dict[str, NDArray[Any]]]) -> dict[str, Any]:
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _code(codes: dict[str, int], name: str | None) -> int:
    return -1 if name is None else codes.setdefault(name, len(codes))


def _numbers(columns: dict[str, FloatArray]) -> Iterator[dict[str, float]]:
    """The numbers of each row that were given."""
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield {name: value for name, value in zip(columns, values, strict=True) if value == value}  # noqa: PLR0124 - NaN
