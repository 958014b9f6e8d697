"""An experiment: the cells that it needs, and the report on their results."""

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
    """The size of an experiment.

    Attributes:
        seeds: networks to draw.
        quick: use small networks of digits.
        references: FedL on all nodes runs on this many of the networks, from the first on; None is all.
        draws: a random sampler is averaged over at most this many sets; None is the scheme's own number.
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
    """The tables and figures of an experiment; the main table is first."""

    tables: tuple[Table, ...]
    drawings: Mapping[str, Drawing] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """An experiment, ready to be run.

    Attributes:
        name: its name on the command line.
        cells: the runs it needs.
        report: makes tables and figures of their results.
    """

    name: str
    cells: tuple[Cell, ...]
    report: Callable[[Results], Report]
