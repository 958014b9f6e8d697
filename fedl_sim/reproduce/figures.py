"""Figures of accuracy over aggregations, with one plot for each panel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fedl_sim.pictures import Drawing, draw_curve
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import label_of
from fedl_sim.reproduce.measures import curve, runs_by_seed
from fedl_sim.reproduce.panel import Panel
from sampler.scheme_styles import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curve_grid"]

Place = Callable[[Panel], str | int]


def curve_grid(
    panels: Sequence[Panel],
    schemes: Sequence[str],
    results: Results,
    *,
    row: Place,
    column: Place,
    title: Callable[[Panel], str],
    level: Callable[[Panel], float] | None = None,
) -> Drawing:
    """Return a grid of panels with one legend; `level` adds a line at an accuracy."""
    rows = list(dict.fromkeys(row(panel) for panel in panels))
    columns = list(dict.fromkeys(column(panel) for panel in panels))

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
        for panel in panels:
            axes = grid[rows.index(row(panel)), columns.index(column(panel))]
            _curves(axes, panel, schemes, results)
            axes.set(title=title(panel), xlabel="aggregation", ylabel="test accuracy")
            if level is not None:
                axes.axhline(level(panel), color="grey", linewidth=0.8, linestyle=":")
        for axes in grid.flat:
            axes.label_outer()
        handles, labels = grid[0, 0].get_legend_handles_labels()
        bands = "bands: ± one standard deviation over seeds"
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", title=bands)

    return Drawing(3.2 * len(columns), 2.8 * len(rows) + 0.9, draw)


def _curves(axes: "Axes", panel: Panel, schemes: Sequence[str], results: Results) -> None:
    for scheme in schemes:
        values = curve(runs_by_seed(results, panel.cells, scheme), "accuracy")
        style = style_of(scheme)
        draw_curve(
            axes,
            values.mean(axis=0),
            values.std(axis=0, ddof=1) if len(values) > 1 else None,
            label_of(scheme),
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.4,
        )
