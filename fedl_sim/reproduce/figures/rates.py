"""The figure of tuned learning rates: the score of each scheme over η, a panel for each place where it was tuned."""

from typing import TYPE_CHECKING

from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.compared import colour_of, label_of, moves_data
from fedl_sim.reproduce.figures.rows import Rows, number
from fedl_sim.reproduce.tables import NOT_RUN
from sampler.schemes import EVERYONE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["tuning_figures"]

_PREFIX = "η = "


def tuning_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Draw a line for each scheme; dashed ones move no data."""
    rows = tables["tune"]
    places = list(dict.fromkeys((str(row["study"]), str(row["data_set"])) for row in rows))
    columns = [name for name in rows[0] if name.startswith(_PREFIX)]

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(1, len(places), squeeze=False)[0]
        for axes, (study, data_set) in zip(grid, places, strict=True):
            for row in rows:
                if (row["study"], row["data_set"]) != (study, data_set):
                    continue
                tried = [name for name in columns if row[name] != NOT_RUN]
                arm = str(row["arm"])
                axes.plot(
                    [float(name.removeprefix(_PREFIX)) for name in tried],
                    [number(row[name]) for name in tried],
                    "-" if moves_data(arm) or arm == EVERYONE else "--",
                    marker="o",
                    markersize=3,
                    color=colour_of(arm),
                    label=label_of(arm),
                )
            axes.set(xscale="log", xlabel="η", ylabel="mean accuracy", title=f"{study}, {data_set}")
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")

    return {"tune": Drawing(4.0 * len(places), 3.8, draw)}
