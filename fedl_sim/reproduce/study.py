"""An experiment: the cells that it needs, and the report on their results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from fedl_sim.errors import InvalidSettingError
from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.tables import Table

__all__ = ["Rates", "Report", "Scope", "Study"]

Rates = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Scope:
    """The size of an experiment.

    Attributes:
        seeds: networks to draw.
        quick: use small networks of digits.
        draws: a random sampler is averaged over at most this many sets; None is the scheme's own number.
        sizes: N of the panels to run; None is all that the paper has.
        meshes: files of real networks, for the study that uses them.
        rates: η of each arm by data set, for the fair setting; None is the paper's setting, with one η for all.
    """

    seeds: tuple[int, ...]
    quick: bool = False
    draws: int | None = None
    rates: Rates | None = None
    sizes: tuple[int, ...] | None = None
    meshes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.draws is not None and self.draws < 1:
            raise InvalidSettingError("draws must be at least 1")

    def among(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of an experiment's N that are to be run.

        Raises:
            InvalidSettingError: one that is asked for is not among them.
        """
        if self.sizes is None:
            return sizes
        if not set(self.sizes) <= set(sizes):
            raise InvalidSettingError(f"sizes must be among {', '.join(map(str, sizes))}")
        return self.sizes

    def under_setting(self, cell: Cell) -> Cell:
        """Return the cell as it trains in this setting: the fair one has equal batches and each arm's own η.

        Raises:
            InvalidSettingError: no η was found for the arm.
        """
        if self.rates is None:
            return cell
        found = self.rates.get(cell.data_set, {})
        rate = found.get(cell.name, found.get(cell.scheme))
        if rate is None:
            raise InvalidSettingError(f"no η was tuned for {cell.name} on {cell.data_set}: run the experiment tune")
        training = replace(cell.run.training, learning_rate=rate, equal_batches=True)
        return replace(cell, run=replace(cell.run, training=training))


@dataclass(frozen=True)
class Report:
    """The tables and figures of an experiment; the main table is first."""

    tables: tuple[Table, ...]
    drawings: Mapping[str, Drawing] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """An experiment, ready to be run.

    Attributes:
        name: its name on the command line.
        cells: the runs it needs, the most important first.
        report: makes tables and figures of their results.
    """

    name: str
    cells: tuple[Cell, ...]
    report: Callable[[Results], Report]
