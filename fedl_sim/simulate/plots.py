"""Plots of a comparison: accuracy curves, data moved, and the devices that trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.loop.records import SchemeRun
from fedl_sim.pictures import Drawing, draw_curve, error_axis, save_drawings
from fedl_sim.simulate.summary import SchemeSummary
from sampler.scheme_styles import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["save_plots"]

_WIDTH, _HEIGHT = 7.0, 4.2
_MAX_DEVICES = 20  # leave out schemes that train nearly all devices
_BAR_HEIGHT = 0.2


def save_plots(runs: Sequence[SchemeRun], summaries: Sequence[SchemeSummary], folder: Path) -> list[Path]:
    """Write `accuracy`, `moved` and `trained` as PNG and SVG; return the paths.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    shown = _first_of_each_scheme(runs)
    bars = sum(len(run.devices) for run in shown)
    drawings = {
        "accuracy": Drawing(1.5 * _WIDTH, 5.2, lambda figure: _accuracy(figure, summaries)),
        "moved": Drawing(_WIDTH, _HEIGHT, lambda figure: _moved(figure.subplots(), summaries)),
        "trained": Drawing(_WIDTH, max(_HEIGHT, _BAR_HEIGHT * bars), lambda figure: _trained(figure.subplots(), shown)),
    }
    return save_drawings(drawings, folder, dpi=150)


def _accuracy(figure: "Figure", summaries: Sequence[SchemeSummary]) -> None:
    """Accuracy on the left; on the right the error on a log scale, where lines separate that accuracy joins."""
    left, right = figure.subplots(1, 2)
    for summary in summaries:
        mean, deviation = np.array(summary.accuracy), np.array(summary.accuracy_deviation)
        look = style_of(summary.scheme)
        label = f"{summary.scheme}, {summary.runs} run{'s' if summary.runs > 1 else ''}"
        line = {"color": look.colour, "linestyle": look.dash, "marker": "o", "markersize": 3}
        draw_curve(left, mean, deviation, label, **line)
        draw_curve(right, 1 - mean, deviation, label, **line)
    left.set(xlabel="aggregation", ylabel="test accuracy", ylim=(0, 1))
    left.margins(x=0)
    error_axis(right)
    right.set(xlabel="aggregation", ylabel="test error, 1 − accuracy")
    told = "Lines: mean over runs. Bands: ± one standard deviation. Dashed: no offloading."
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=3, fontsize="small", title=told, title_fontsize="small"
    )


def _moved(axes: "Axes", summaries: Sequence[SchemeSummary]) -> None:
    rows = np.arange(len(summaries))
    axes.barh(rows, [s.moved for s in summaries], color="lightgrey", label="sent")
    colours = [style_of(s.scheme).colour for s in summaries]
    axes.barh(rows, [s.useful for s in summaries], height=0.5, color=colours, label="kept by receivers")
    axes.plot([s.predicted_useful for s in summaries], rows, "k|", markersize=14, label="predicted by the plan")
    for row, summary in zip(rows, summaries, strict=True):
        if not summary.moved:
            axes.annotate(" nothing", (0, row), va="center", fontsize="small", color="#555555")
    axes.set_yticks(rows, [s.scheme for s in summaries])
    axes.invert_yaxis()
    axes.set(xlabel="datapoints, mean over runs", title="Data moved between devices")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(fontsize="small")


def _first_of_each_scheme(runs: Sequence[SchemeRun]) -> list[SchemeRun]:
    first: dict[str, SchemeRun] = {}
    for run in runs:
        if len(run.devices) <= _MAX_DEVICES:
            first.setdefault(run.scheme, run)
    return list(first.values())


def _trained(axes: "Axes", runs: Sequence[SchemeRun]) -> None:
    """Draw for each trained device the data it started with and the data it received."""
    labels = [f"{run.scheme} · {device.device}" for run in runs for device in run.devices]
    own = [device.data for run in runs for device in run.devices]
    received = [device.received for run in runs for device in run.devices]
    rows = np.arange(len(labels))
    axes.barh(rows, own, label="own data")
    axes.barh(rows, received, left=own, label="received and kept")
    axes.set_yticks(rows, labels, fontsize="small")
    axes.invert_yaxis()
    axes.set(xlabel="datapoints held at the end", title="Who trained (scheme · device)")
    axes.legend(fontsize="small")
