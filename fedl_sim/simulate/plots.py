"""Plots of a comparison: accuracy curves, data moved, and the devices that trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.loop.records import SchemeRun
from fedl_sim.pictures import Drawing, draw_curve, save_drawings
from fedl_sim.simulate.summary import SchemeSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        "accuracy": Drawing(_WIDTH, _HEIGHT, lambda figure: _accuracy(figure.subplots(), summaries)),
        "moved": Drawing(_WIDTH, _HEIGHT, lambda figure: _moved(figure.subplots(), summaries)),
        "trained": Drawing(_WIDTH, max(_HEIGHT, _BAR_HEIGHT * bars), lambda figure: _trained(figure.subplots(), shown)),
    }
    return save_drawings(drawings, folder, dpi=150)


def _accuracy(axes: "Axes", summaries: Sequence[SchemeSummary]) -> None:
    for summary in summaries:
        mean, deviation = np.array(summary.accuracy), np.array(summary.accuracy_deviation)
        draw_curve(axes, mean, deviation, summary.scheme, marker="o", markersize=3)
    axes.set(xlabel="aggregation", ylabel="test accuracy", ylim=(0, 1), title="Accuracy (mean ± deviation)")
    axes.legend(fontsize="small")


def _moved(axes: "Axes", summaries: Sequence[SchemeSummary]) -> None:
    rows = np.arange(len(summaries))
    moved = [s.moved for s in summaries]
    axes.barh(rows, moved, color="lightgrey", label="sent")
    axes.barh(rows, [s.useful for s in summaries], height=0.5, label="kept by receivers")
    axes.plot([s.predicted_useful for s in summaries], rows, "k|", markersize=14, label="predicted by the plan")
    axes.set_yticks(rows, [s.scheme for s in summaries])
    axes.invert_yaxis()
    axes.set(xlabel="datapoints", title="Data moved between devices")
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
