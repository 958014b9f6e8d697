"""Test error over aggregations on a log scale, with and without offloading in panels of their own: lines separate."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fedl_sim.pictures import Drawing, draw_curve, error_axis
from fedl_sim.reproduce.compared import (
    AGAIN,
    FIGURE_SCHEMES,
    TABLE_SCHEMES,
    arm_named,
    label_of,
    moves_data,
)
from fedl_sim.reproduce.figures.rows import Rows, number
from fedl_sim.reproduce.measures import target_of
from sampler.scheme_styles import style_of
from sampler.schemes import EVERYONE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy_figures", "convergence_figures"]

_GROUPS = ((False, "no offloading"), (True, "with offloading"))

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Panel:
    data_set: str
    n_devices: int
    sample_size: int
    accuracy: dict[str, FloatArray]  # by scheme: a row for each network, k = 0 first

    @property
    def target(self) -> float | None:
        """The accuracy that Table I asks for, where all nodes ran."""
        reached = self.accuracy.get(EVERYONE)
        return None if reached is None else target_of(self.data_set, reached[:, -1])


def accuracy_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Figs. 6 and 7: a figure for each data set, a column for each S."""
    panels = _panels(tables["curves"], (*FIGURE_SCHEMES, EVERYONE))
    return {
        f"accuracy-{name}": _grid(
            [panel for panel in panels if panel.data_set == name],
            row=lambda panel: f"N = {panel.n_devices}",
            column=lambda panel: f"S = {panel.sample_size}",
        )
        for name in dict.fromkeys(panel.data_set for panel in panels)
    }


def convergence_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Table I's runs: a row for each data set and a column for each N, or the other way round if there is one N."""
    schemes = (*(scheme for scheme in TABLE_SCHEMES if scheme != AGAIN), EVERYONE)
    panels = _panels(tables["curves"], schemes)
    row, column = (lambda panel: panel.data_set), (lambda panel: f"N = {panel.n_devices}")
    if len({panel.n_devices for panel in panels}) == 1:
        row, column = column, row
    return {"convergence": _grid(panels, row=row, column=column, with_target=True)}


def _panels(rows: Rows, schemes: Sequence[str]) -> list[_Panel]:
    found: dict[tuple[str, int, int], dict[str, dict[str, dict[str, list[float]]]]] = {}
    for row in rows:
        key = str(row["data_set"]), int(number(row["n_devices"])), int(number(row["sample_size"]))
        networks = found.setdefault(key, {}).setdefault(str(row["scheme"]), {})
        runs = networks.setdefault(str(row["seed"]), {})
        runs.setdefault(str(row["draw"]), []).append(number(row["accuracy"]))
    return [
        _Panel(*key, {name: _mean_of_draws(by_scheme[name]) for name in schemes if name in by_scheme})
        for key, by_scheme in found.items()
    ]


def _mean_of_draws(networks: dict[str, dict[str, list[float]]]) -> FloatArray:
    """Return a row for each network."""
    return np.array([np.mean(list(runs.values()), axis=0) for runs in networks.values()])


def _grid(
    panels: Sequence[_Panel],
    *,
    row: Callable[[_Panel], str],
    column: Callable[[_Panel], str],
    with_target: bool = False,
) -> Drawing:
    rows = [(name, *group) for name in dict.fromkeys(map(row, panels)) for group in _GROUPS]
    columns = list(dict.fromkeys(map(column, panels)))
    # Errors on one data set are of one size.
    shared = len({(row(panel), panel.data_set) for panel in panels}) == len(set(map(row, panels)))

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(len(rows), len(columns), sharex=True, sharey="row" if shared else False, squeeze=False)
        for panel in panels:
            for place, (name, offloading, told) in enumerate(rows):
                if name != row(panel):
                    continue
                axes = grid[place, columns.index(column(panel))]
                _errors(axes, panel, offloading=offloading)
                axes.set_title(f"{name}, {column(panel)}", fontsize="medium")
                axes.set(xlabel="aggregation", ylabel=f"{told}\ntest error")
                if with_target and panel.target is not None:
                    axes.axhline(1 - panel.target, color="grey", linewidth=1, linestyle=":", label="target of Table I")
        for axes in grid.flat:
            axes.label_outer(remove_inner_ticks=False)
            axes.tick_params(labelleft=not shared or axes.get_subplotspec().is_first_col())
        _legend(figure, grid.flat, panels)

    return Drawing(3.5 * len(columns), 2.2 * len(rows) + 1.7, draw)


def _errors(axes: "Axes", panel: _Panel, *, offloading: bool) -> None:
    """Draw the test error of the group's schemes, and of all nodes for comparison."""
    for scheme, accuracy in panel.accuracy.items():
        if scheme != EVERYONE and moves_data(scheme) != offloading:
            continue
        style = style_of(arm_named(scheme).scheme)
        error = 1 - accuracy
        draw_curve(
            axes,
            error.mean(axis=0),
            error.std(axis=0, ddof=1) if len(error) > 1 else None,
            label_of(scheme),
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.5,
        )
    error_axis(axes)


def _legend(figure: "Figure", all_axes: Iterable["Axes"], panels: Sequence[_Panel]) -> None:
    handles: dict[str, Artist] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    networks = max(len(runs) for panel in panels for name, runs in panel.accuracy.items() if name != EVERYONE)
    reference = [len(panel.accuracy[EVERYONE]) for panel in panels if EVERYONE in panel.accuracy]
    told = f"Test error is 1 − accuracy, on a log scale: less is better.\nLines: mean over {networks} networks"
    if reference and max(reference) != networks:
        told += f" (FedL, all nodes: {max(reference)})"
    told += ". Bands: ± one standard deviation."
    # The same colour is the same sampler; columns keep the two groups apart.
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=2, fontsize="small", title=told,
        title_fontsize="small",
    )  # fmt: skip
