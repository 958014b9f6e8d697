"""Fleets over the wire: devices and links as their owner knows them, with ids and physical units (ADR 0059)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import FailFast, Field, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from app.http.problems import ERROR_LIMIT, InvalidRequestError
from app.wire.base import LARGEST, SMALLEST, AnswerModel, Optional, RequestModel
from app.wire.budget import charge
from app.wire.estimate import label_matrix
from app.wire.fleet_tables import DeviceTable, FleetDevice, FleetLink, LinkTable
from app.wire.ids import DeviceIds
from app.wire.network import LabelNoise, NetworkIn, SimilarityOrigin, charge_network
from app.wire.problem import ErrorItem
from sampler.label_counts.derived_similarity import complete_similarity
from solver import Devices, Fleet, InvalidInputError, Network
from solver.network.energy import Energy

__all__ = ["Assumption", "FleetIn", "LinksLeftOut", "Translated", "Translation"]

# More kinds of labels than this are a mistake, such as an id for each datapoint.
_MOST_CLASSES = 1000


class Assumption(AnswerModel):
    """What was assumed where a fleet leaves something out."""

    field: str = Field(description="As in `devices.load`.")
    count: int = Field(description="Devices or links that leave it out.")
    assumed: str


class LinksLeftOut(AnswerModel):
    """Links that no data may go over."""

    across_groups: int = Field(description="Between trust groups.")
    unwilling: int = Field(
        description="Within a group, from devices that may not send or to devices that may not train."
    )


class Translation(AnswerModel):
    """How a fleet was translated into a network."""

    assumptions: list[Assumption]
    links_left_out: LinksLeftOut
    similarity: SimilarityOrigin


@dataclass(frozen=True, eq=False)
class Translated:
    """A network with the ids of its devices, its id and version if stored; what it was made of and how, if a fleet."""

    network: Network
    ids: DeviceIds | None = None
    fleet: Translation | None = None
    energy: Energy | None = None
    stored: tuple[str, int] | None = None
    source: "FleetIn | None" = None
    similarity: SimilarityOrigin | None = None

    @classmethod
    def of(cls, network: NetworkIn, pointer: str = "/network") -> "Translated":
        """A network in columns or matrices; similarity that it leaves out is derived."""
        made, origin = network.to_domain(pointer)
        return cls(made, network.devices.ids(f"{pointer}/devices"), similarity=origin)


def _as_devices(value: Any, validate: ValidatorFunctionWrapHandler) -> DeviceTable:
    """Tables come from `app.wire.arrays`."""
    return value if isinstance(value, DeviceTable) else DeviceTable.of(validate(value))


def _as_links(value: Any, validate: ValidatorFunctionWrapHandler) -> LinkTable:
    return value if isinstance(value, LinkTable) else LinkTable.of(validate(value))


if TYPE_CHECKING:
    _Devices = DeviceTable
    _Links = LinkTable
else:
    _Rows = PlainSerializer(lambda table: table.rows(), return_type=list[Any])
    _Devices = Annotated[list[FleetDevice], Field(min_length=1), FailFast(), WrapValidator(_as_devices), _Rows]
    _Links = Annotated[list[FleetLink], FailFast(), WrapValidator(_as_links), _Rows]


class FleetIn(RequestModel):
    """Devices and links as their owner knows them; docs/fleet.md says what becomes of them."""

    step_seconds: Annotated[float, Field(ge=1e-3, le=1e9, description="Length of a step.")]
    datapoint_bytes: Annotated[float, Field(ge=1, le=1e9, description="Size of a datapoint on a link.")]
    epochs_per_step: Annotated[
        float, Field(ge=1e-3, le=1e6, description="How often a device goes through its data in a step.")
    ] = 1.0
    devices: _Devices
    links: Annotated[_Links, Field(description="Who may send to whom; each pair at most once in a direction.")]
    label_noise: Optional[LabelNoise] = Field(
        None, description="If label counts have differential-privacy noise. They then count each device's own data."
    )

    def to_domain(self, pointer: str = "/fleet") -> Translated:
        """The network that the fleet amounts to."""
        charge_network(len(self.devices), len(self.links))
        unwilling = np.flatnonzero(~self.devices.may_train).tolist()
        ids = DeviceIds.of(self.devices.id, f"{pointer}/devices/*/id", unwilling)
        for table, numbers in (("devices", self.devices.numbers), ("links", self.links.numbers)):
            for name, column in numbers.items():
                # Squares and quotients of smaller ones would not be numbers any more.
                tiny = (column != 0) & (np.abs(column) < SMALLEST)
                _refuse(tiny, f"{pointer}/{table}/*/{name}", f"must be 0 or at least {SMALLEST:g}")
        with _located(pointer):
            fleet = self._fleet(ids, pointer)
            epsilon = None if self.label_noise is None else self.label_noise.epsilon
            devices = fleet.devices(self._label_counts(pointer), epsilon)
            similarity, source = self._similarity(fleet, devices)
            network = fleet.network(devices, similarity)
        told = Translation(assumptions=self._assumptions(), links_left_out=_left_out(fleet), similarity=source)
        return Translated(network, ids, told, self._energy(fleet), source=self)

    def _fleet(self, ids: DeviceIds, pointer: str) -> Fleet:
        numbers, links = self.devices.numbers, self.links
        source, target = self._ends(ids, pointer)
        airtime = numbers["airtime_seconds"]
        return Fleet(
            step_seconds=self.step_seconds,
            datapoint_bytes=self.datapoint_bytes,
            epochs_per_step=self.epochs_per_step,
            datapoints=numbers["datapoints"],
            samples_per_second=numbers["samples_per_second"],
            load=np.nan_to_num(numbers["load"]),
            storage_datapoints=np.nan_to_num(numbers["storage_datapoints"], nan=np.inf),
            airtime_seconds=np.where(np.isnan(airtime), self.step_seconds, airtime),
            may_train=self.devices.may_train,
            may_send=self.devices.may_send,
            group=self.devices.group,
            source=source,
            target=target,
            mbps=links.numbers["mbps"],
            loss=np.nan_to_num(links.numbers["loss"]),
        )

    def _ends(self, ids: DeviceIds, pointer: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the devices that each link is between."""
        numbers = np.array([ids.numbers.get(name, -1) for name in self.links.ends], np.int64)
        source, target = (numbers[codes] if codes.size else codes for codes in (self.links.source, self.links.target))
        for name, ends in (("from", source), ("to", target)):
            _refuse(ends < 0, f"{pointer}/links/*/{name}", "is the id of no device")
        _refuse(source == target, f"{pointer}/links/*/to", "is the device that the link comes from")
        key = source * np.int64(len(ids.names)) + target
        repeated = np.ones(key.size, np.bool_)
        repeated[np.unique(key, return_index=True)[1]] = False
        _refuse(repeated, f"{pointer}/links/*", "repeats an earlier link in the same direction")
        return source, target

    def _label_counts(self, pointer: str) -> NDArray[np.float64] | None:
        """A row of counts for each device, classes by name; one without is assumed to hold what the others do."""
        table = self.devices
        if not table.classes:
            if self.label_noise is not None:
                raise InvalidRequestError.at(f"{pointer}/label_noise", "needs devices with label_counts")
            return None
        if len(table.classes) > _MOST_CLASSES:
            rule = f"names {len(table.classes)} classes, at most {_MOST_CLASSES} may be"
            raise InvalidRequestError.at(f"{pointer}/devices", rule)
        size = np.abs(table.label_count)
        bad = (size != 0) & (size < SMALLEST) | ((table.label_count < 0) & (self.label_noise is None))
        if bad.any():
            device = int(table.label_device[np.argmax(bad)])
            rule = f"must be 0 or from {SMALLEST:g} to {LARGEST:g}; only counts with label_noise may be negative"
            raise InvalidRequestError.at(f"{pointer}/devices/{device}/label_counts", rule)
        charge(label_matrix(len(table), len(table.classes)), f"counts of {len(table.classes)} classes")
        column = {name: place for place, name in enumerate(self._classes())}
        place = np.array([column[name] for name in table.classes])
        counts = np.zeros((len(table), len(table.classes)))
        counts[table.label_device, place[table.label_class]] = table.label_count
        data, known = table.numbers["datapoints"], table.counted
        others = np.maximum(counts[known].sum(axis=0), 0.0)
        counts[~known] = np.outer(data[~known], others / max(float(others.sum()), 1.0))
        return counts

    def _similarity(self, fleet: Fleet, devices: Devices) -> tuple[NDArray[np.float64], SimilarityOrigin]:
        """λ of every usable link, and where it comes from."""
        usable = fleet.usable
        source, target = fleet.source[usable], fleet.target[usable]
        found = complete_similarity(devices, source, target, self.links.numbers["similarity"][usable])
        return found.similarity, SimilarityOrigin.of(found, self._classes())

    def _energy(self, fleet: Fleet) -> Energy | None:
        """Joules for a datapoint, if the fleet has any; what is left out counts as 0."""
        sample, megabyte = self.devices.numbers["joules_per_sample"], self.links.numbers["joules_per_megabyte"]
        if np.isnan(sample).all() and np.isnan(megabyte).all():
            return None
        return Energy(
            processing=self.epochs_per_step * np.nan_to_num(sample),
            source=fleet.source,
            target=fleet.target,
            transmit=fleet.joules_per_datapoint(np.nan_to_num(megabyte)),
        )

    def _classes(self) -> list[str]:
        """The classes in the order of the columns of label counts."""
        return sorted(self.devices.classes, key=_class_order)

    def _without_labels(self) -> NDArray[np.float64]:
        """NaN for each device without label counts, if there are others with them."""
        missing = ~self.devices.counted & bool(self.devices.classes)
        return np.where(missing, np.nan, 0.0)

    def _assumptions(self) -> list[Assumption]:
        devices, links = self.devices.numbers, self.links.numbers
        defaults = (
            ("devices.load", devices["load"], "0: no other work"),
            ("devices.storage_datapoints", devices["storage_datapoints"], "no limit"),
            ("devices.airtime_seconds", devices["airtime_seconds"], f"{self.step_seconds:g} s: the whole step"),
            ("devices.label_counts", self._without_labels(), "the mixture of all others"),
            ("links.loss", links["loss"], "0: nothing is sent again"),
        )
        missing = ((field, int(np.isnan(column).sum()), assumed) for field, column, assumed in defaults)
        return [Assumption(field=field, count=count, assumed=told) for field, count, told in missing if count]


def _class_order(name: str) -> tuple[bool, int, str]:
    """Numbers first, in their order, so that classes called 0 to 9 are those of a data set."""
    return (False, int(name), "") if name.isdecimal() and len(name) < 10 else (True, 0, name)


def _left_out(fleet: Fleet) -> LinksLeftOut:
    across = fleet.across_groups
    return LinksLeftOut(across_groups=int(across.sum()), unwilling=int((fleet.unwilling & ~across).sum()))


def _refuse(bad: NDArray[np.bool_], pointer: str, rule: str) -> None:
    """Refuse those that are bad; their numbers go where `*` stands."""
    places = np.flatnonzero(bad)
    if places.size:
        told = [
            ErrorItem(pointer=pointer.replace("*", str(place)), detail=rule) for place in places[:ERROR_LIMIT].tolist()
        ]
        raise InvalidRequestError(told, count=int(places.size))


@contextmanager
def _located(pointer: str) -> Iterator[None]:
    """Turn the domain's error about a column into a problem that points to the row: `/fleet/devices/3/load`."""
    try:
        yield
    except InvalidInputError as error:
        table, _, field = error.field.partition(".")
        row = () if error.index is None else (str(error.index),)
        place = (field,) if table == "fleet" else (table, *row, field)
        raise InvalidRequestError.at("/".join((pointer, *place)), error.reason) from error
