"""The network of Sec. II: devices and directed links, frozen and validated."""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.validation import as_column, as_indices, as_matrix, as_number, frozen, reject_first

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["DEVICE_COLUMNS", "LINK_COLUMNS", "Devices", "Links", "Network"]

DEVICE_COLUMNS = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")
LINK_COLUMNS = ("source", "target", "similarity", "transmit_cost")

# Noise of a smaller ε is larger than any count, and its variance would overflow.
_LEAST_EPSILON = 1e-6


@dataclass(frozen=True, eq=False)
class Devices:
    """Columns of N devices (Sec. II-A).

    Attributes:
        data: D_i(0), datapoints held.
        processing_capacity: P_i, in the units of `processing_cost` × datapoints.
        processing_cost: p_i per datapoint.
        receive_capacity: θ_i, useful datapoints it may receive in a step.
        transmit_budget: Ψ_i, in the units of `transmit_cost` × datapoints, a step.
        label_counts: optional N×C counts of classes, or of any sketch that adds up.
        label_epsilon: ε, if each count has Laplace noise of scale 1/ε and counts may be negative; None: they are exact.
    """

    data: FloatArray
    processing_capacity: FloatArray
    processing_cost: FloatArray
    receive_capacity: FloatArray
    transmit_budget: FloatArray
    label_counts: FloatArray | None = None
    label_epsilon: float | None = None

    def __post_init__(self) -> None:
        data = as_column(self.data, "devices.data")
        if data.size == 0:
            raise InvalidInputError("devices.data", "must name at least one device")
        object.__setattr__(self, "data", data)
        for name in DEVICE_COLUMNS[1:]:
            column = as_column(getattr(self, name), f"devices.{name}", length=data.size)
            object.__setattr__(self, name, column)
        if self.label_epsilon is not None:
            if self.label_counts is None:
                raise InvalidInputError("devices.label_epsilon", "needs devices.label_counts")
            epsilon = as_number(self.label_epsilon, "devices.label_epsilon", low=_LEAST_EPSILON)
            object.__setattr__(self, "label_epsilon", epsilon)
        if self.label_counts is not None:
            counts = as_matrix(
                self.label_counts, "devices.label_counts", rows=data.size, signed=self.label_epsilon is not None
            )
            object.__setattr__(self, "label_counts", counts)

    def __len__(self) -> int:
        return int(self.data.size)


@dataclass(frozen=True, eq=False)
class Links:
    """Directed links: `source` may send to `target` (A_st = 1, Sec. II-B).

    Attributes:
        source: sender of each link.
        target: receiver of each link.
        similarity: λ_st ∈ [0, 1], the share of the source's data that the target already covers.
        transmit_cost: ψ_st per datapoint.
    """

    source: IntArray
    target: IntArray
    similarity: FloatArray
    transmit_cost: FloatArray

    def __post_init__(self) -> None:
        source = as_indices(self.source, "links.source")
        target = as_indices(self.target, "links.target")
        if target.size != source.size:
            raise InvalidInputError(
                "links.target", f"must have {source.size} entries like links.source, has {target.size}"
            )
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "target", target)
        similarity = as_column(self.similarity, "links.similarity", length=source.size, high=1.0)
        cost = as_column(self.transmit_cost, "links.transmit_cost", length=source.size)
        object.__setattr__(self, "similarity", similarity)
        object.__setattr__(self, "transmit_cost", cost)
        reject_first(source == target, source, "links.source", "links a device with itself")

    def __len__(self) -> int:
        return int(self.source.size)

    @classmethod
    def none(cls) -> Self:
        """No links at all."""
        return cls(source=np.empty(0, np.int64), target=np.empty(0, np.int64), similarity=[], transmit_cost=[])  # type: ignore[arg-type]

    @classmethod
    def from_dense(
        cls,
        adjacency: npt.ArrayLike,
        similarity: npt.ArrayLike,
        transmit_cost: npt.ArrayLike,
        *,
        n_devices: int,
    ) -> Self:
        """Links from N×N matrices: A of zeros and ones, λ and ψ (read where A is one)."""
        A = as_matrix(adjacency, "topology.adjacency", rows=n_devices, columns=n_devices)
        reject_first((A != 0) & (A != 1), A, "topology.adjacency", "must be 0 or 1")
        reject_first(
            (A != 0) & np.eye(n_devices, dtype=np.bool_), A, "topology.adjacency", "links a device with itself"
        )
        lam = as_matrix(similarity, "topology.similarity", rows=n_devices, columns=n_devices, high=1.0)
        psi = as_matrix(transmit_cost, "topology.transmit_cost", rows=n_devices, columns=n_devices)
        source, target = np.nonzero(A)
        return cls(source, target, lam[source, target], psi[source, target])


@dataclass(frozen=True, eq=False)
class Network:
    """Devices and the links between them.

    Links are kept sorted by target, then source, with `incoming` as row pointers: the links into device i are
    `incoming[i]:incoming[i + 1]`. This is the compressed-sparse-row form of Aᵀ. A step needs it, since it gathers the
    links into a few sampled devices.
    """

    devices: Devices
    links: Links
    incoming: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.devices)
        links = self.links
        for name in ("source", "target"):
            index = getattr(links, name)
            reject_first(index >= n, index, f"links.{name}", f"must be below the number of devices, {n}")
        key = links.target * np.int64(n) + links.source
        step = np.diff(key)
        if not np.all(step > 0):
            order = np.argsort(key, kind="stable")
            repeated = np.diff(key[order]) == 0
            if repeated.any():
                later = int(order[1:][repeated].min())
                pair = f"{links.source[later]} → {links.target[later]}"
                raise InvalidInputError(
                    "links.source", f"repeats the link {pair}", index=later, value=int(links.source[later])
                )
            links = Links(links.source[order], links.target[order], links.similarity[order], links.transmit_cost[order])
            object.__setattr__(self, "links", links)
        counts = np.bincount(links.target, minlength=n)
        incoming = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
        object.__setattr__(self, "incoming", frozen(incoming))

    def __len__(self) -> int:
        return len(self.devices)

    @classmethod
    def from_dense(
        cls,
        devices: Devices,
        adjacency: npt.ArrayLike,
        similarity: npt.ArrayLike,
        transmit_cost: npt.ArrayLike,
    ) -> Self:
        """A network from N×N matrices; see `Links.from_dense`."""
        return cls(devices, Links.from_dense(adjacency, similarity, transmit_cost, n_devices=len(devices)))

    def with_columns(self, columns: dict[str, npt.ArrayLike], links: Links | None = None) -> "Network":
        """The same network with some device columns, and the links if given, replaced."""
        for name in columns:
            if name not in {f.name for f in fields(Devices)}:
                raise InvalidInputError(f"devices.{name}", "is no device column")
        devices = replace(self.devices, **columns) if columns else self.devices  # type: ignore[arg-type]
        if links is None and devices is self.devices:
            return self
        return Network(devices, self.links if links is None else links)

    @cached_property
    def total_data(self) -> float:
        """D_N(0): all datapoints in the network."""
        return float(self.devices.data.sum())

    def matrix(self, column: str) -> "sparse.csr_array":
        """A link column ("similarity" or "transmit_cost") as an N×N matrix in source-row form.

        `matrix("similarity")` is Λ(0) = λ∘A of Sec. II-B.
        """
        if column not in {f.name for f in fields(Links)} - {"source", "target"}:
            raise InvalidInputError("column", f"must be similarity or transmit_cost, is {column!r}")
        # SciPy is imported here because a server that only plans starts faster without it.
        from scipy import sparse  # noqa: PLC0415

        n = len(self)
        values = getattr(self.links, column)
        return sparse.csr_array((values, (self.links.source, self.links.target)), shape=(n, n))
