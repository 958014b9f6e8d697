"""What an experiment is: the cells it needs, and what it says of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fedl_sim.errors import InvalidSettingError
from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.tables import Table

__all__ = ["Report", "Scope", "Study"]


@dataclass(frozen=True)
class Scope:
    """How much of an experiment to do.

    Attributes:
        seeds: networks to draw.
        quick: small networks of digits.
        references: on how many of the networks, from the first, FedL on all nodes is run too; None is all.
        draws: at most how many sets a sampler that draws at random is averaged over; None is the scheme's own number.
    """

    seeds: tuple[int, ...]
    quick: bool = False
    references: int | None = None
    draws: int | None = None

    def __post_init__(self) -> None:
        for name in ("references", "draws"):
            if (getattr(self, name) or 1) < 1:
                raise InvalidSettingError(f"{name} must be at least 1")


@dataclass(frozen=True)
class Report:
    """What came out; the first table is the one that people read."""

    tables: tuple[Table, ...]
    drawings: Mapping[str, Drawing] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """An experiment, ready to be run.

    Attributes:
        name: what it is called on the command line.
        cells: the runs that it needs.
        report: from their results to tables and figures.
    """

    name: str
    cells: tuple[Cell, ...]
    report: Callable[[Results], Report]
