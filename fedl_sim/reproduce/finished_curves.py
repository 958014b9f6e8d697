"""Finished runs, read from the curves that an experiment wrote.

Cells stay on the machine that trained them, while `curves.csv` is kept with the tables. It has all that the tables of
accuracy and of datapoints processed need, so on another machine an experiment continues from it.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.records import AggregationRecord, SchemeRun
from fedl_sim.reproduce.cell import VERSION, Cell
from fedl_sim.reproduce.registry import study_named
from fedl_sim.reproduce.study import Scope
from sampler.schemes import EVERYONE

__all__ = ["TAKES_CURVES", "FinishedCurves", "read_finished_curves"]

# Experiments whose reports need nothing but accuracy and datapoints processed.
TAKES_CURVES = ("accuracy", "convergence", "resources")
# Tables that were written before they named the version of cells, or their processor, have runs of these.
_UNNAMED = 2
_UNNAMED_PROCESSOR = "x86-64-v3"

Key = tuple[str, int, int, str, int, int]


@dataclass(frozen=True)
class FinishedCurves:
    """Runs by cell, the versions of the code that trained them, and the processor that it was compiled for."""

    runs: Mapping[Cell, SchemeRun]
    made_by: tuple[str, ...]
    compiled_for: str


def read_finished_curves(folder: Path) -> FinishedCurves:
    """Read the runs of a folder that an experiment wrote.

    Raises:
        InvalidSettingError: the folder has no curves, or these are not of runs that would be trained today.
    """
    try:
        about = _about(folder)
        rows = _rows(folder / "curves.csv")
    except (OSError, ValueError, KeyError) as error:
        raise InvalidSettingError(f"{folder} has no curves of an experiment: {error}") from error
    if (version := about.get("cell_version", _UNNAMED)) != VERSION:
        raise InvalidSettingError(f"{folder} has runs of version {version}; runs of version {VERSION} differ")
    wanted = _study_cells(about)
    if about.get("first_cell", wanted[0].settings) != wanted[0].settings:
        raise InvalidSettingError(f"{folder} has runs that were trained with other settings than today's defaults")
    cells = {_key(cell): cell for cell in wanted}
    runs = {}
    for key, curve in rows.items():
        if (cell := cells.get(key)) is None or len(curve) != cell.run.aggregations + 1:
            raise InvalidSettingError(f"{folder}/curves.csv has a run that its settings do not name: {key}")
        runs[cell] = _run(cell, curve)
    return FinishedCurves(runs, tuple(about["made_by"]), about.get("compiled_for", _UNNAMED_PROCESSOR))


def _about(folder: Path) -> dict[str, Any]:
    """Read which experiment it was, with its settings, from the main table."""
    found = next((path for name in TAKES_CURVES if (path := folder / f"{name}.json").exists()), None)
    if found is None:
        raise ValueError(f"there is none of {', '.join(f'{name}.json' for name in TAKES_CURVES)}")
    about: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return about


def _study_cells(about: Mapping[str, Any]) -> Sequence[Cell]:
    settings = about["settings"]
    scope = Scope(
        seeds=tuple(settings["seeds"]),
        quick=settings["quick"],
        draws=settings["draws"],
        rates=settings["rates"],
        sizes=None if settings["sizes"] is None else tuple(settings["sizes"]),
    )
    return study_named(
        about["experiment"], scope, budget=settings["budget"], aggregations=settings["aggregations"]
    ).cells


def _rows(path: Path) -> dict[Key, list[tuple[float, int]]]:
    found: dict[Key, list[tuple[float, int]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # FedL on all nodes does not depend on S: all panels show the same run.
            size = 1 if row["scheme"] == EVERYONE else int(row["sample_size"])
            where = row["data_set"], int(row["n_devices"]), size
            curve = found.setdefault((*where, row["scheme"], int(row["seed"]), int(row["draw"])), [])
            k = int(row["aggregation"])
            if k == len(curve):
                curve.append((float(row["accuracy"]), int(row["processed"])))
    return found


def _key(cell: Cell) -> Key:
    n = cell.realisation.n_devices or 0
    return cell.data_set, n, cell.run.sample_size, cell.name, cell.seed, cell.draw


def _run(cell: Cell, curve: Sequence[tuple[float, int]]) -> SchemeRun:
    """Return the run as far as its curve tells it."""
    records = tuple(
        AggregationRecord(
            aggregation=k,
            accuracy=accuracy,
            processed=processed,
            # Nobody wrote these down, and no experiment of TAKES_CURVES reads them.
            loss=nan,
            gradient_norm=nan,
            gradient_noise=nan,
            predicted_useful=nan,
            cost=nan,
            moved=0,
            useful=0,
        )
        for k, (accuracy, processed) in enumerate(curve)
    )
    return SchemeRun(cell.scheme, cell.seed, cell.draw, (), (), records, worst_relative_gap=nan)
