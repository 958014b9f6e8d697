"""`python -m fedl_sim.reproduce.figures FOLDER...`: draw the figures of experiments again from the tables in FOLDER."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from fedl_sim.errors import InvalidSettingError
from fedl_sim.pictures import DPI, Drawing, save_drawings
from fedl_sim.reproduce.figures.curve_grid import accuracy_figures, convergence_figures
from fedl_sim.reproduce.figures.differences import difference_figures
from fedl_sim.reproduce.figures.points import churn_figures, resources_figures, sampling_figures, solver_figures
from fedl_sim.reproduce.figures.rates import tuning_figures
from fedl_sim.reproduce.figures.rows import Rows, read_tables

__all__ = ["FIGURES", "redraw"]

FIGURES: Mapping[str, Callable[[dict[str, Rows]], dict[str, Drawing]]] = {
    "accuracy": accuracy_figures,
    "beyond": difference_figures,
    "churn": churn_figures,
    "convergence": convergence_figures,
    "labels": difference_figures,
    "ours": difference_figures,
    "resources": resources_figures,
    "sampling": sampling_figures,
    "solver": solver_figures,
    "tune": tuning_figures,
}


def redraw(folder: Path) -> list[Path]:
    """Draw the figures of the experiment whose main table is in the folder; return the paths.

    Raises:
        InvalidSettingError: no experiment has written this folder.
        MissingExtraError: matplotlib is not installed.
    """
    tables = read_tables(folder) if folder.is_dir() else {}
    name = next((name for name in FIGURES if name in tables), None)
    if name is None:
        raise InvalidSettingError(f"{folder} has no table of an experiment: {', '.join(f'{n}.csv' for n in FIGURES)}")
    return save_drawings(FIGURES[name](tables), folder, dpi=DPI)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        for path in redraw(Path(given)):
            sys.stdout.write(f"wrote {path}\n")
