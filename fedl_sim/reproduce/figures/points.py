"""Figures of points with errors: what a target costs, what a choice gains, how a policy ends, how fast a solver is."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.pictures import Drawing, plain_log_axis
from fedl_sim.reproduce.compared import colour_of, label_of, moves_data, named_by_label
from fedl_sim.reproduce.figures.rows import Rows, measured, number
from sampler.scheme_styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["POLICY_LABELS", "churn_figures", "resources_figures", "sampling_figures", "solver_figures"]

POLICY_LABELS = {
    "heal": "healing",
    "afresh": "all chosen anew by the sampler",
    "fixed": "fixed set",
    "patch": "lost ones replaced at random",
    "redraw": "all drawn anew at random",
}


def resources_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Fig. 8: a panel for each target, a line for each scheme; a target that runs missed is marked, not left out."""
    rows = tables["resources"]
    targets = [name for name in rows[0] if name != "scheme"]
    data_sets = list(dict.fromkeys(name.split(", ")[0] for name in targets))
    columns = max(sum(name.startswith(f"{one}, ") for name in targets) for one in data_sets)

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(len(data_sets), columns, sharey=True, sharex="row", squeeze=False)
        for place, data_set in enumerate(data_sets):
            mine = [name for name in targets if name.startswith(f"{data_set}, ")]
            found = [measured(row[target]) for row in rows for target in mine]
            most = max((one.mean + one.error for one in found if one.mean is not None), default=1.0) / 1000
            for axes, target in zip(grid[place], mine, strict=True):
                _costs(axes, rows, target, most)
                axes.set_title(f"{data_set}, {target.split(', ')[1]} of the reference", fontsize="small")
                axes.set_xlim(0, 1.08 * most)
            grid[place, 0].set_yticks(range(len(rows)), [str(row["scheme"]) for row in rows], fontsize="small")
        grid[0, 0].invert_yaxis()
        figure.supxlabel(
            "thousands of datapoints processed until a share of the reference, 60% accuracy, is reached "
            "(± one standard deviation over networks)\n"
            "full: with offloading, hollow: without; ×: not reached in every run, with the share that did",
            fontsize="small",
        )

    return {"resources": Drawing(3.0 + 2.2 * columns, 0.27 * len(rows) * len(data_sets) + 1.6, draw)}


def _costs(axes: "Axes", rows: Rows, target: str, most: float) -> None:
    for place, row in enumerate(rows):
        one = measured(row[target])
        scheme = named_by_label(str(row["scheme"]))
        colour = colour_of(scheme)
        if one.mean is not None:
            axes.errorbar(
                one.mean / 1000, place, xerr=one.error / 1000, fmt="o", color=colour, markersize=5, capsize=2,
                markerfacecolor=colour if moves_data(scheme) else "white",
            )  # fmt: skip
        elif not math.isnan(one.share):
            axes.plot(most, place, "x", color=colour, markersize=6)
            axes.annotate(
                f"{one.share:.0%} ", (most, place), ha="right", va="center", fontsize="x-small", color="#444444",
                xytext=(-5, 0), textcoords="offset points",
            )  # fmt: skip
    axes.grid(alpha=0.3)


def sampling_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Where the choice of devices matters: the gain over random devices, one column for each condition."""
    rows = tables["sampling"]
    axes_of = list(dict.fromkeys(str(row["condition"]) for row in rows))
    chosen = [name for name in rows[0] if name.startswith("gain of ") and not name.endswith("(A/A)")]

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(2, len(axes_of), sharey=True, squeeze=False)
        for line, offloading in enumerate(("none", "optimised")):
            for axes, axis in zip(grid[line], axes_of, strict=True):
                mine = [row for row in rows if (row["condition"], row["offloading"]) == (axis, offloading)]
                _gains(axes, mine, chosen)
                axes.set_title(axis, fontsize="medium")
            grid[line, 0].set_ylabel(f"{'no' if offloading == 'none' else offloading} offloading\ngain of accuracy")
        figure.legend(
            *grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(chosen), fontsize="small",
            title="Gain over random devices on the same networks. Bars: 95 % intervals.", title_fontsize="small",
        )  # fmt: skip

    return {"sampling": Drawing(2.6 * len(axes_of), 5.6, draw)}


def _gains(axes: "Axes", rows: Rows, chosen: Sequence[str]) -> None:
    for number_of, column in enumerate(chosen):
        label = column.removeprefix("gain of ")
        gains = [measured(row[column]) for row in rows]
        places = np.arange(len(rows)) + 0.08 * (number_of - (len(chosen) - 1) / 2)
        means = [math.nan if gain.mean is None else gain.mean for gain in gains]
        axes.errorbar(
            places, means, [gain.error for gain in gains], fmt="o-", color=colour_of(named_by_label(label)),
            markersize=4, label=label_of(named_by_label(label)),
        )  # fmt: skip
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_xticks(range(len(rows)), [str(row["value"]) for row in rows])
    axes.grid(alpha=0.3)


def churn_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """Training under churn: the final accuracy of each policy under each condition."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in tables["runs"]:
        by_policy = found.setdefault(str(row["condition"]), {})
        by_policy.setdefault(str(row["policy"]), []).append(number(row["accuracy"]))
    calm, *conditions = found
    networks = len(next(iter(found[calm].values())))

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        level = float(np.mean(next(iter(found[calm].values()))))
        axes.axvline(level, color="grey", linewidth=1, linestyle=":", label="nobody is lost")
        for place, (policy, label) in enumerate(POLICY_LABELS.items()):
            runs = [np.array(found[condition].get(policy, [math.nan])) for condition in conditions]
            means = [float(one.mean()) for one in runs]
            errors = [float(one.std(ddof=1)) / len(one) ** 0.5 if len(one) > 1 else 0.0 for one in runs]
            heights = np.arange(len(conditions)) + 0.14 * (place - (len(POLICY_LABELS) - 1) / 2)
            axes.errorbar(
                means, heights, xerr=errors, fmt=_MARKS[place], color=COLOURS[_COLOUR_OF[policy]], label=label
            )
        axes.set_yticks(range(len(conditions)), conditions)
        for height in range(len(conditions) - 1):
            axes.axhline(height + 0.5, color="#dddddd", linewidth=0.8)
        axes.invert_yaxis()
        axes.set(xlabel=f"final test accuracy: mean over {networks} networks, ± one standard error")
        axes.grid(axis="x", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=3, fontsize="small")

    return {"churn": Drawing(8.0, 0.62 * len(conditions) + 1.7, draw)}


_TICKS = [digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5)]
_MARKS = ("o", "s", "D", "^", "v")
_COLOUR_OF = {"heal": 3, "afresh": 4, "fixed": 0, "patch": 2, "redraw": 1}


def solver_figures(tables: dict[str, Rows]) -> dict[str, Drawing]:
    """How many times longer CVXPY takes, over the number of devices."""
    rows = tables["solver"]
    ratio = list(rows[0])[-1]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        for colour, mark, budget in zip(COLOURS, _MARKS, dict.fromkeys(row["budget"] for row in rows), strict=False):
            line = [row for row in rows if row["budget"] == budget]
            sizes, times = ([number(row[name]) for row in line] for name in ("N", ratio))
            axes.plot(sizes, times, f"{mark}-", color=colour, label=f"{budget} budgets")
        axes.set(xlabel="devices", ylabel=ratio, xscale="log", yscale="log")
        axes.set_xticks([number(value) for value in dict.fromkeys(row["N"] for row in rows)])
        plain_log_axis(axes.xaxis)
        ratios = [number(row[ratio]) for row in rows]
        low, high = max(t for t in _TICKS if t <= min(ratios)), min(t for t in _TICKS if t >= max(ratios))
        axes.set_ylim(low, high)
        axes.set_yticks([tick for tick in _TICKS if low <= tick <= high])
        plain_log_axis(axes.yaxis)
        axes.set_title("A period of five steps, S = 6: median of the networks", fontsize="medium")
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)

    return {"solver": Drawing(5.4, 3.6, draw)}
