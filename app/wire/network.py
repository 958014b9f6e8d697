"""Networks over the wire: columns of devices, and links either as columns or as dense matrices."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.http.problems import InvalidRequestError
from app.wire.base import LARGEST, SMALLEST, Indices, Matrix, Measures, Optional, RequestModel, SignedMatrix
from app.wire.budget import charge
from app.wire.estimate import network
from app.wire.pointers import located
from solver import Devices, Links, Network

__all__ = [
    "DeviceChanges",
    "DeviceColumns",
    "LabelNoise",
    "LinkTopology",
    "MatrixTopology",
    "NetworkIn",
    "Topology",
    "charge_network",
    "indices",
]


def charge_network(n_devices: int, n_links: int, n_cells: int = 0) -> None:
    """Charge the memory of a network before it is built of columns, or of matrices with this many cells."""
    charge(network(n_devices, n_links, n_cells), f"a network of {n_devices} devices and {n_links} links")


def column(values: Measures, pointer: str) -> NDArray[np.float64]:
    """The numbers as an array, each zero or at least the smallest accepted one."""
    return checked(np.asarray(values, dtype=np.float64), pointer)


def checked(array: NDArray[np.float64], pointer: str, *, signed: bool = False) -> NDArray[np.float64]:
    """The array, if each number is zero or within the accepted magnitudes; of any sign if `signed`."""
    size = np.abs(array) if signed else array
    with np.errstate(invalid="ignore"):
        bad = ~((size == 0) | ((size >= SMALLEST) & (size <= LARGEST)))
    if bad.any():
        place = "/".join(str(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
        rule = f"must be 0 or from {SMALLEST:g} to {LARGEST:g}{' in magnitude' if signed else ''}"
        raise InvalidRequestError.at(f"{pointer}/{place}", rule)
    return array


def indices(values: Indices, pointer: str, n_devices: int) -> NDArray[np.int64]:
    """The numbers as an array, each that of a device."""
    try:
        array = np.asarray(values, dtype=np.int64)
    except OverflowError:
        raise InvalidRequestError.at(pointer, f"must be below the number of devices, {n_devices}") from None
    bad = (array < 0) | (array >= n_devices)
    if bad.any():
        place = f"{pointer}/{int(np.argmax(bad))}"
        raise InvalidRequestError.at(place, f"must be at least 0 and below the number of devices, {n_devices}")
    return array


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
        columns = {name: column(getattr(self, name), f"{pointer}/{name}") for name in COLUMNS}
        with located({"devices": pointer}):
            noisy, given = self.label_noise is not None, self.label_counts
            counts = None if given is None else rows(given, f"{pointer}/label_counts", signed=noisy)
            return Devices(**columns, label_counts=counts, label_epsilon=self._epsilon(pointer))

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
    similarity: Annotated[Measures, Field(description="Share of the source's data that the target covers already.")]
    transmit_cost: Annotated[Measures, Field(description="Per datapoint.")]

    def to_domain(self, pointer: str, n_devices: int) -> Links:
        """The validated links."""
        charge_network(n_devices, len(self.source))
        similarity = column(self.similarity, f"{pointer}/similarity")
        cost = column(self.transmit_cost, f"{pointer}/transmit_cost")
        source = indices(self.source, f"{pointer}/source", n_devices)
        target = indices(self.target, f"{pointer}/target", n_devices)
        with located({"links": pointer}):
            return Links(source, target, similarity, cost)


class MatrixTopology(RequestModel):
    """Dense N×N matrices; `similarity` and `transmit_cost` are read where `adjacency` is 1."""

    kind: Literal["matrix"]
    adjacency: Matrix
    similarity: Matrix
    transmit_cost: Matrix

    def to_domain(self, pointer: str, n_devices: int) -> Links:
        """The same links as columns."""
        matrices = [rows(getattr(self, name), f"{pointer}/{name}") for name in MATRICES]
        charge_network(n_devices, int(np.count_nonzero(matrices[0])), matrices[0].size)
        with located({"topology": pointer, "links": pointer}):
            return Links.from_dense(*matrices, n_devices=n_devices)


MATRICES = ("adjacency", "similarity", "transmit_cost")

Topology = Annotated[LinkTopology | MatrixTopology, Field(discriminator="kind")]


class NetworkIn(RequestModel):
    """Devices and who may send to whom."""

    devices: DeviceColumns
    topology: Topology

    def to_domain(self, pointer: str = "/network") -> Network:
        """The validated network."""
        devices = self.devices.to_domain(f"{pointer}/devices")
        links = self.topology.to_domain(f"{pointer}/topology", len(devices))
        with located({"links": f"{pointer}/topology"}):
            return Network(devices, links)


class DeviceChanges(RequestModel):
    """The device columns that change; those left out stay as they are."""

    processing_capacity: Optional[Measures] = None
    processing_cost: Optional[Measures] = None
    receive_capacity: Optional[Measures] = None
    transmit_budget: Optional[Measures] = None

    def to_domain(self, pointer: str, n_devices: int) -> dict[str, NDArray[np.float64]]:
        """The given columns, each of the network's length."""
        given = {name: getattr(self, name) for name in COLUMNS[1:] if getattr(self, name) is not None}
        for name, values in given.items():
            if len(values) != n_devices:
                raise InvalidRequestError.at(f"{pointer}/{name}", f"must have {n_devices} entries, has {len(values)}")
        return {name: column(values, f"{pointer}/{name}") for name, values in given.items()}
