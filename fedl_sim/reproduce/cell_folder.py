"""A folder of finished cells, one JSON file each, and running the missing ones.

A file is written as soon as its cell is finished, so an experiment that was stopped continues with the missing cells.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import joblib

from fedl_sim.atomic import write_atomically
from fedl_sim.engines.compiled.options import compiled_for
from fedl_sim.errors import SimulationError
from fedl_sim.loop.records import AggregationRecord, DeviceRecord, PeriodRecord, SchemeRun
from fedl_sim.parallel import fan_out
from fedl_sim.reproduce.cell import Cell, run_cell
from fedl_sim.reproduce.provenance import source_version

__all__ = ["CellFolder", "Results"]

Results = Mapping[Cell, SchemeRun]
# A run with its seconds, and the processor that its code was compiled for where it ran.
_Done = tuple[Cell, SchemeRun, float, str]


@dataclass(frozen=True)
class CellFolder:
    """A folder of finished cells.

    Attributes:
        path: where their files are.
        known: runs without a file that are finished too, see `fedl_sim.reproduce.finished_curves`.
    """

    path: Path
    known: Results = field(default_factory=dict)

    def file(self, cell: Cell) -> Path:
        """Return the path of a cell's file."""
        return self.path / cell.key[:2] / f"{cell.key}.json"

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the cells that are not finished, each once."""
        one_each = {cell.key: cell for cell in reversed(cells) if cell not in self.known}
        return [cell for cell in reversed(one_each.values()) if not self.file(cell).exists()]

    def load(self, cells: Sequence[Cell]) -> dict[Cell, SchemeRun]:
        """Read finished cells.

        Raises:
            SimulationError: one is missing or damaged.
        """
        return {cell: self._read(cell) if self._needs_file(cell) else self.known[cell] for cell in cells}

    def seconds(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, float]]:
        """Yield finished cells with the time that each took."""
        for cell in dict.fromkeys(cells):
            if self.file(cell).exists():
                yield cell, json.loads(self.file(cell).read_text(encoding="utf-8"))["seconds"]

    def versions(self, cells: Sequence[Cell]) -> list[str]:
        """Return the versions of the code that ran these cells, of those with a file."""
        files = (self.file(cell) for cell in cells if self._needs_file(cell))
        return sorted({json.loads(file.read_text(encoding="utf-8"))["made_by"] for file in files})

    def processors(self, cells: Sequence[Cell]) -> set[str]:
        """Return the processors that the code of these cells was compiled for, of those with a file that says so."""
        files = (self.file(cell) for cell in cells if self._needs_file(cell))
        found = {json.loads(file.read_text(encoding="utf-8")).get("compiled_for") for file in files}
        return found - {None}

    def make(
        self,
        cells: Sequence[Cell],
        *,
        processes: int = 1,
        dask: str | None = None,
        on_cell: Callable[[Cell, float], None] | None = None,
    ) -> None:
        """Run the missing cells in their order, and write each as soon as it is finished.

        `on_cell` is told each one and the seconds that it took.
        """
        calls = (joblib.delayed(_timed)(cell) for cell in self.missing(cells))
        for cell, run, seconds, processor in _results(calls, processes, dask):
            self._write(cell, run, seconds, processor)
            if on_cell is not None:
                on_cell(cell, seconds)

    def _needs_file(self, cell: Cell) -> bool:
        return cell not in self.known or self.file(cell).exists()

    def _write(self, cell: Cell, run: SchemeRun, seconds: float, processor: str) -> None:
        content = {
            "made_by": source_version(),
            "compiled_for": processor,
            "seconds": round(seconds, 2),
            "settings": cell.settings,
            "run": asdict(run),
        }
        write_atomically(self.file(cell), json.dumps(content).encode())

    def _read(self, cell: Cell) -> SchemeRun:
        path = self.file(cell)
        try:
            run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["run"]
            return SchemeRun(
                **{name: run[name] for name in ("scheme", "seed", "draw", "worst_relative_gap")},
                sampled=tuple(run["sampled"]),
                devices=tuple(DeviceRecord(**device) for device in run["devices"]),
                aggregations=tuple(AggregationRecord(**record) for record in run["aggregations"]),
                # Cells that were finished before there was churn have none.
                periods=tuple(_period(record) for record in run.get("periods", ())),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SimulationError(f"{path} cannot be read: {error}") from error


def _period(record: Mapping[str, Sequence[int]]) -> PeriodRecord:
    return PeriodRecord(**{name: tuple(devices) for name, devices in record.items()})


def _results(calls: Iterator[Any], processes: int, dask: str | None) -> Iterator[_Done]:
    if processes == 1 and dask is None:
        # In this process: the data set is loaded once, and Ctrl-C ends the run at once.
        for function, arguments, keywords in calls:
            yield function(*arguments, **keywords)
        return
    yield from fan_out(calls, processes=processes, dask=dask)


def _timed(cell: Cell) -> _Done:
    begin = time.process_time()  # so that other work on the machine does not count
    run = run_cell(cell)
    return cell, run, time.process_time() - begin, compiled_for()
