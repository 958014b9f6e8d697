"""Networks over the wire: columns of devices, and links either as columns or as dense matrices."""

from collections.abc import Sequence, Sized
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.http.problems import ERROR_LIMIT, InvalidRequestError
from app.wire.base import (
    LARGEST,
    SMALLEST,
    AnswerModel,
    Indices,
    Matrix,
    Measures,
    Optional,
    RequestModel,
    ShareMatrix,
    Shares,
    SignedMatrix,
)
from app.wire.budget import charge
from app.wire.estimate import network
from app.wire.ids import DeviceId, DeviceIds
from app.wire.pointers import Faults, located
from app.wire.problem import ErrorItem
from sampler.label_counts.derived_similarity import Completed, complete_similarity
from solver import Devices, Links, Network

__all__ = [
    "DeviceChanges",
    "DeviceColumns",
    "LabelNoise",
    "LinkTopology",
    "MatrixTopology",
    "NetworkIn",
    "SimilarityOrigin",
    "Topology",
    "charge_network",
    "indices",
    "with_similarity",
]


def charge_network(n_devices: int, n_links: int, n_cells: int = 0) -> None:
    """Charge the memory of a network before it is built of columns, or of matrices with this many cells."""
    charge(network(n_devices, n_links, n_cells), f"a network of {n_devices} devices and {n_links} links")


def column(
    values: Measures, pointer: str, *, length: int | None = None, largest: float = LARGEST
) -> NDArray[np.float64]:
    """The numbers as an array of this length, each zero or within the accepted magnitudes."""
    _check_length(values, pointer, length)
    return checked(np.asarray(values, dtype=np.float64), pointer, largest=largest)


def checked(
    array: NDArray[np.float64], pointer: str, *, signed: bool = False, largest: float = LARGEST
) -> NDArray[np.float64]:
    """The array, if each number is zero or within the accepted magnitudes; of any sign if `signed`."""
    size = np.abs(array) if signed else array
    with np.errstate(invalid="ignore"):
        bad = ~((size == 0) | ((size >= SMALLEST) & (size <= largest)))
    _refuse(bad, pointer, f"must be 0 or from {SMALLEST:g} to {largest:g}{' in magnitude' if signed else ''}")
    return array


def _check_length(values: Sized, pointer: str, length: int | None) -> None:
    if length is not None and len(values) != length:
        raise InvalidRequestError.at(pointer, f"must have {length} entries, has {len(values)}")


def _refuse(bad: NDArray[np.bool_], pointer: str, rule: str) -> None:
    """Refuse all entries that are marked; the first of them are listed."""
    count = int(np.count_nonzero(bad))
    if not count:
        return
    flat, places = bad.ravel(), [0]
    for _ in range(min(count, ERROR_LIMIT)):
        places.append(places[-1] + int(np.argmax(flat[places[-1] :])) + 1)
    found = ("/".join(map(str, np.unravel_index(place - 1, bad.shape))) for place in places[1:])
    raise InvalidRequestError([ErrorItem(pointer=f"{pointer}/{one}", detail=rule) for one in found], count=count)


def indices(values: Indices, pointer: str, n_devices: int, *, length: int | None = None) -> NDArray[np.int64]:
    """The numbers as an array of this length, each that of a device."""
    _check_length(values, pointer, length)
    try:
        array = np.asarray(values, dtype=np.int64)
    except OverflowError:
        raise InvalidRequestError.at(pointer, f"must be below the number of devices, {n_devices}") from None
    bad = (array < 0) | (array >= n_devices)
    _refuse(bad, pointer, f"must be at least 0 and below the number of devices, {n_devices}")
    return array


class SimilarityOrigin(AnswerModel):
    """Where the similarity of the links comes from."""

    measured: int = Field(description="Links that report it.")
    derived: int = Field(description="Links for which it was derived from label counts and match rates.")
    assumed: int = Field(description="Links without, where there are no label counts.")
    match_rates: Optional[dict[str, float]] = Field(
        None, description="By class, the chance that two datapoints of it are similar; docs/fleet.md has the formula."
    )
    fitted_on: Optional[int] = Field(None, description="Links that the rates were fitted on; 0: a default for all.")
    assumed_value: Optional[float] = Field(None, description="The mean of the links that report it, or 0.")

    @classmethod
    def of(cls, found: Completed, classes: Sequence[str]) -> "SimilarityOrigin":
        """What became of the links; `classes` are the names of the label counts' columns."""
        numbers: dict[str, int] = {"measured": found.measured, "derived": 0, "assumed": 0}
        if not found.missing:
            return cls(**numbers)
        if found.rates is None:
            return cls(**numbers | {"assumed": found.missing}, assumed_value=found.assumed_value)
        rates = dict(zip(classes, found.rates.rates.tolist(), strict=True))
        return cls(**numbers | {"derived": found.missing}, match_rates=rates, fitted_on=found.rates.fitted_on)


class LabelNoise(RequestModel):
    """The noise that devices added to their label counts."""

    epsilon: Annotated[
        float,
        Field(
            ge=1e-6,
            le=LARGEST,
            description="Each count has Laplace noise of scale 1/epsilon, so a device's counts are "
            "epsilon-differentially private.",
        ),
    ]


class DeviceColumns(RequestModel):
    """One entry per device in every column."""

    id: Optional[list[DeviceId]] = Field(None, description="Names for the devices; answers then have them too.")
    data: Annotated[Measures, Field(min_length=1, description="Datapoints held.")]
    processing_capacity: Annotated[Measures, Field(description="In the units of processing_cost × datapoints.")]
    processing_cost: Annotated[Measures, Field(description="Per datapoint.")]
    receive_capacity: Annotated[Measures, Field(description="Useful datapoints it may receive in a step.")]
    transmit_budget: Annotated[Measures, Field(description="A step's, in the units of transmit_cost × datapoints.")]
    label_counts: Optional[SignedMatrix] = Field(
        None,
        description="N rows of class counts, or of any sketch that adds up; samplers that can use them do. Only counts "
        "with label_noise may be negative.",
    )
    label_noise: Optional[LabelNoise] = Field(
        None, description="If label_counts have differential-privacy noise. They then count each device's own data."
    )

    def to_domain(self, pointer: str) -> Devices:
        """The validated columns."""
        columns, counts, faults = {}, None, Faults()
        for name in COLUMNS:
            with faults.part():
                columns[name] = column(getattr(self, name), f"{pointer}/{name}", length=len(self.data))
        if self.label_counts is not None:
            with faults.part():
                noisy = self.label_noise is not None
                counts = rows(self.label_counts, f"{pointer}/label_counts", signed=noisy)
        faults.check()
        with located({"devices": pointer}):
            return Devices(**columns, label_counts=counts, label_epsilon=self._epsilon(pointer))

    def ids(self, pointer: str) -> DeviceIds | None:
        """The ids, if there are any."""
        if self.id is None:
            return None
        if len(self.id) != len(self.data):
            raise InvalidRequestError.at(f"{pointer}/id", f"must have {len(self.data)} entries, has {len(self.id)}")
        return DeviceIds.of(self.id, f"{pointer}/id/*")

    def _epsilon(self, pointer: str) -> float | None:
        if self.label_noise is not None and self.label_counts is None:
            raise InvalidRequestError.at(f"{pointer}/label_noise", "needs label_counts")
        return None if self.label_noise is None else self.label_noise.epsilon


COLUMNS = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")


def rows(values: Matrix, pointer: str, *, signed: bool = False) -> NDArray[np.float64]:
    """A matrix from rows of equal length."""
    if isinstance(values, np.ndarray):
        return checked(values, pointer, signed=signed)
    widths = {len(row) for row in values}
    if len(widths) > 1:
        raise InvalidRequestError.at(pointer, "must have rows of equal length")
    matrix = np.array(values, dtype=np.float64).reshape(len(values), -1 if values and values[0] else 0)
    return checked(matrix, pointer, signed=signed)


class LinkTopology(RequestModel):
    """Directed links as columns: `source` may send to `target`."""

    kind: Literal["links"]
    source: Indices
    target: Indices
    similarity: Optional[Shares] = Field(
        None,
        description="Share of the source's data that the target covers already; derived from label counts if left out.",
    )
    transmit_cost: Annotated[Measures, Field(description="Per datapoint.")]

    def to_domain(self, pointer: str, n_devices: int) -> Links:
        """The validated links; similarity that was left out is 0."""
        n_links = len(self.source)
        similarity = np.zeros(n_links) if self.similarity is None else self.similarity
        charge_network(n_devices, n_links)
        weights: dict[str, NDArray[np.float64]] = {}
        ends: dict[str, NDArray[np.int64]] = {}
        faults = Faults()
        for name in ("source", "target"):
            with faults.part():
                ends[name] = indices(getattr(self, name), f"{pointer}/{name}", n_devices, length=n_links)
        for name, values, largest in (("similarity", similarity, 1.0), ("transmit_cost", self.transmit_cost, LARGEST)):
            with faults.part():
                weights[name] = column(values, f"{pointer}/{name}", length=n_links, largest=largest)
        if len(ends) == 2:
            with faults.part():
                _refuse(ends["source"] == ends["target"], f"{pointer}/source", "links a device with itself")
        faults.check()
        with located({"links": pointer}):
            return Links(ends["source"], ends["target"], weights["similarity"], weights["transmit_cost"])


class MatrixTopology(RequestModel):
    """Dense N×N matrices; `similarity` and `transmit_cost` are read where `adjacency` is 1."""

    kind: Literal["matrix"]
    adjacency: Matrix
    similarity: Optional[ShareMatrix] = Field(None, description="Derived from label counts if it is left out.")
    transmit_cost: Matrix

    def to_domain(self, pointer: str, n_devices: int) -> Links:
        """The same links as columns; similarity that was left out is 0."""
        matrices = [rows(self._matrix(name), f"{pointer}/{name}") for name in MATRICES]
        charge_network(n_devices, int(np.count_nonzero(matrices[0])), matrices[0].size)
        with located({"topology": pointer, "links": pointer}):
            return Links.from_dense(*matrices, n_devices=n_devices)

    def _matrix(self, name: str) -> Matrix:
        given: Matrix | None = getattr(self, name)
        return np.zeros((len(self.adjacency), len(self.adjacency))) if given is None else given


MATRICES = ("adjacency", "similarity", "transmit_cost")

Topology = Annotated[LinkTopology | MatrixTopology, Field(discriminator="kind")]


class NetworkIn(RequestModel):
    """Devices and who may send to whom."""

    devices: DeviceColumns
    topology: Topology

    def to_domain(self, pointer: str = "/network") -> tuple[Network, SimilarityOrigin | None]:
        """The validated network, and where its similarity comes from if it was left out."""
        faults = Faults()
        with faults.part():
            devices = self.devices.to_domain(f"{pointer}/devices")
        with faults.part():
            links = self.topology.to_domain(f"{pointer}/topology", len(self.devices.data))
        faults.check()
        with located({"links": f"{pointer}/topology"}):
            network = Network(devices, links)
        unknown = np.full(len(links), self.topology.similarity is None)
        return with_similarity(network, unknown)


def with_similarity(network: Network, unknown: NDArray[np.bool_]) -> tuple[Network, SimilarityOrigin | None]:
    """The network with the similarity of its unknown links derived, and what it was derived from."""
    if not unknown.any():
        return network, None
    devices, links = network.devices, network.links
    measured = np.where(unknown, np.nan, links.similarity)
    found = complete_similarity(devices, links.source, links.target, measured)
    classes = 0 if devices.label_counts is None else devices.label_counts.shape[1]
    told = SimilarityOrigin.of(found, [str(column) for column in range(classes)])
    return Network(devices, replace(links, similarity=found.similarity)), told


class DeviceChanges(RequestModel):
    """The device columns that change; those left out stay as they are."""

    processing_capacity: Optional[Measures] = None
    processing_cost: Optional[Measures] = None
    receive_capacity: Optional[Measures] = None
    transmit_budget: Optional[Measures] = None

    def to_domain(self, pointer: str, n_devices: int) -> dict[str, NDArray[np.float64]]:
        """The given columns, each of the network's length."""
        given = {name: getattr(self, name) for name in COLUMNS[1:] if getattr(self, name) is not None}
        return {name: column(values, f"{pointer}/{name}", length=n_devices) for name, values in given.items()}
