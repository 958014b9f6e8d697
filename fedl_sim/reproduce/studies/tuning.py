"""η of each scheme for the fair setting, tuned on other networks than the reported ones.

In the fair setting every device takes the same number of mini-batches a step. No scheme gets more of them because its
devices hold more data, and none may suffer from an η that suits another: each takes the best of one grid, by the mean
test accuracy over all aggregations and all tuning networks.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fedl_sim.errors import InvalidSettingError
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import AGAIN, TABLE_SCHEMES, cells_of, label_of
from fedl_sim.reproduce.figures.rates import tuning_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import curve, runs_by_seed
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import NOT_RUN, Table
from sampler.schemes import EVERYONE

__all__ = ["GRID", "TUNED_FOR", "read_rates", "tuning_study"]

GRID = (0.01, 0.02, 0.05, 0.1, 0.2)
# Which tuning an experiment takes its η from.
TUNED_FOR: Mapping[str, str] = {"accuracy": "accuracy", "convergence": "convergence", "resources": "accuracy"}
_SCHEMES = (*(scheme for scheme in TABLE_SCHEMES if scheme != AGAIN), EVERYONE)

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class _Place:
    """Where an experiment's η are tuned: one of its data sets, N, S and budgets."""

    study: str
    data_set: str
    cells: Mapping[float, tuple[Cell, ...]]

    def score(self, results: Results, scheme: str, rate: float) -> float:
        """Return the mean accuracy over aggregations and networks; NaN if nothing has run."""
        runs = runs_by_seed(results, self.cells[rate], scheme)
        return float(curve(runs, "accuracy").mean()) if runs else np.nan

    def best(self, results: Results, scheme: str) -> float | None:
        """Return the best η of the grid; None unless all of it has run."""
        scores = [self.score(results, scheme, rate) for rate in GRID]
        return None if np.isnan(scores).any() else GRID[int(np.argmax(scores))]


def tuning_study(template: Cell, scope: Scope) -> Study:
    """The middle of Figs. 6 and 7 under tight budgets, and the middle of Table I under scarce ones."""
    places = []
    for study, n, quick, s, budget in (("accuracy", 100, 40, 5, "tight"), ("convergence", 700, 60, 6, "scarce")):
        for data_set in ("digits",) if scope.quick else ("mnist", "fashion-mnist"):
            base = template.sized(data_set, quick if scope.quick else n, s)
            base = replace(base, realisation=replace(base.realisation, budget=budget))
            places.append(_Place(study, data_set, {rate: _cells(base, rate, scope) for rate in GRID}))

    def report(results: Results) -> Report:
        tables = (_table(places, results, scope),)
        return Report(tables, tuning_figures(rows_of(tables)))

    return Study("tune", tuple(cell for place in places for cells in place.cells.values() for cell in cells), report)


def _cells(base: Cell, rate: float, scope: Scope) -> tuple[Cell, ...]:
    training = replace(base.run.training, learning_rate=rate, equal_batches=True)
    tried = replace(base, run=replace(base.run, training=training))
    return cells_of(tried, schemes=_SCHEMES, seeds=scope.seeds, draws=scope.draws or 1)


def _table(places: list[_Place], results: Results, scope: Scope) -> Table:
    rows: list[Row] = []
    for place in places:
        for scheme in _SCHEMES:
            best = place.best(results, scheme)
            row: Row = {"study": place.study, "data_set": place.data_set, "arm": scheme, "scheme": label_of(scheme)}
            for rate in GRID:
                score = place.score(results, scheme, rate)
                row[f"η = {rate:g}"] = NOT_RUN if np.isnan(score) else f"{score:.3f}"
            edge = "" if best is None or best not in {GRID[0], GRID[-1]} else "; the best may lie beyond"
            rows.append({**row, "best": best, "note": f"edge of the grid{edge}" if edge else None})
    seeds = ", ".join(map(str, scope.seeds))
    return Table(
        "tune",
        "η of each scheme in the fair setting: mean test accuracy over all aggregations",
        tuple(rows[0]),
        tuple(rows),
        (f"Networks of the seeds {seeds}, which no other table reports on; one draw of random sets.",),
    )


def read_rates(path: Path, study: str) -> dict[str, dict[str, float]]:
    """Read the η that `tuning_study` found for an experiment, by data set and arm, from its tune.json.

    Raises:
        InvalidSettingError: the experiment has no fair setting, or the file is missing or not finished.
    """
    if study not in TUNED_FOR:
        raise InvalidSettingError(f"{study} has no fair setting; these have one: {', '.join(TUNED_FOR)}")
    rates: dict[str, dict[str, float]] = {}
    try:
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            if row["study"] == TUNED_FOR[study]:
                rates.setdefault(row["data_set"], {})[row["arm"]] = float(row["best"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"the fair setting needs the η of {path}: run the experiment tune first ({error})"
        raise InvalidSettingError(reason) from error
    return rates
