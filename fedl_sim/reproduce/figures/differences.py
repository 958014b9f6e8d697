"""The figure of a study of variants: each variant's difference to another, a panel for each group of networks."""

import re
from typing import TYPE_CHECKING

from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.figures.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["difference_figures"]

# A mean with its interval; the interval of one network has no ends.
_DIFFERENCE = re.compile(r"(?P<mean>\S+) \[(?P<low>[^,]+), (?P<high>[^\]]+)\]")


def difference_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Draw a point with its 95 % interval for each row that is compared with another."""
    ((name, rows),) = ((name, rows) for name, rows in tables.items() if rows and "difference" in rows[0])
    groups: dict[str, list[tuple[str, tuple[float, float, float]]]] = {}
    for row in rows:
        if found := _DIFFERENCE.fullmatch(str(row["difference"])):
            numbers = float(found["mean"]), float(found["low"]), float(found["high"])
            groups.setdefault(str(row["group"]), []).append((str(row["variant"]), numbers))
    others = {str(row["compared with"]) for row in rows if row["compared with"]}
    told = f" to {others.pop()}" if len(others) == 1 else ""

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(len(groups), 1, squeeze=False, height_ratios=[len(found) for found in groups.values()])
        for axes, (group, found) in zip(grid.flat, groups.items(), strict=True):
            for place, (_, (mean, low, high)) in enumerate(found):
                ends = None if low == -float("inf") else [[mean - low], [high - mean]]
                axes.errorbar(mean, place, xerr=ends, fmt="o", color="black", markersize=4, capsize=2)
            axes.axvline(0.0, color="grey", linewidth=0.8)
            axes.set_yticks(range(len(found)), [variant for variant, _ in found], fontsize="small")
            axes.set_ylim(len(found) - 0.5, -0.5)
            axes.set_title(group, fontsize="medium")
            axes.grid(alpha=0.3, axis="x")
        figure.supxlabel(f"difference in final accuracy{told}, points (95 % intervals)", fontsize="medium")

    height = 0.6 + 0.5 * len(groups) + 0.24 * sum(map(len, groups.values()))
    return {name: Drawing(7.2, height, draw)}
