"""How long runs take: an estimate from finished runs of the same kind."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from fedl_sim.reproduce.cell import Cell
from sampler.schemes import EVERYONE, find_scheme

__all__ = ["Effort", "hours", "kind_of"]

Kind = tuple[str, ...]


def kind_of(cell: Cell) -> Kind:
    """Return what decides how long an aggregation takes; FedL on all nodes trains on the whole data set for any N.

    MNIST and Fashion-MNIST have images of one size and as many of them.
    """
    scheme = find_scheme(cell.scheme)
    images = "mnist" if cell.data_set == "fashion-mnist" else cell.data_set
    if scheme.sampler == EVERYONE:
        return images, "all nodes"
    network = cell.realisation
    moving = "no offloading" if scheme.offloading == "none" else f"offloading, {network.budget} budgets"
    fair = "fair" if cell.run.training.equal_batches else "paper"
    return images, f"N = {network.n_devices}, S = {cell.run.sample_size}", moving, fair


@dataclass
class Effort:
    """Seconds for one aggregation, by kind."""

    _seen: dict[Kind, list[float]] = field(default_factory=dict)

    def learn(self, cell: Cell, seconds: float) -> None:
        """Note how long a cell took on one core."""
        self._seen.setdefault(kind_of(cell), []).append(seconds / cell.run.aggregations)

    def unknown(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return one cell of each kind that nothing is known about."""
        found: dict[Kind, Cell] = {}
        for cell in cells:
            if kind_of(cell) not in self._seen:
                found.setdefault(kind_of(cell), cell)
        return list(found.values())

    def seconds(self, cells: Iterable[Cell]) -> float:
        """Return how long these cells take on one core; a kind that is not known takes the mean of all others."""
        means = {kind: fmean(found) for kind, found in self._seen.items()}
        other = fmean(means.values()) if means else 0.0
        return sum(means.get(kind_of(cell), other) * cell.run.aggregations for cell in cells)


def hours(seconds: float) -> str:
    """Return a duration for people."""
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
