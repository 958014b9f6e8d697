"""Pictures of an experiment: accuracy curves, data moved, and who trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.errors import MissingExtraError
from fedl_sim.loop.records import SchemeRun
from fedl_sim.simulate.summary import SchemeSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["save_plots"]

_WIDTH, _HEIGHT = 7.0, 4.2
_MAX_DEVICES = 20  # schemes that train (nearly) everybody would drown the others
_BAR_HEIGHT = 0.2


def save_plots(
    runs: Sequence[SchemeRun], summaries: Sequence[SchemeSummary], folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Write `accuracy`, `moved` and `trained` in each format (png, svg); return the paths.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        # Figures of its own, not pyplot: no global state, no display, safe beside other users of matplotlib.
        from matplotlib import rc_context  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: install fedsift[plots]") from error
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    # A fixed salt keeps SVG identifiers, and so the files, the same from run to run.
    with rc_context({"svg.hashsalt": "fedsift", "svg.fonttype": "none"}):
        figures: dict[str, Figure] = {}
        shown = _first_of_each_scheme(runs)
        for name in ("accuracy", "moved", "trained"):
            bars = sum(len(run.devices) for run in shown) if name == "trained" else 0
            figures[name] = Figure(figsize=(_WIDTH, max(_HEIGHT, _BAR_HEIGHT * bars)), layout="constrained")
        _accuracy(figures["accuracy"].subplots(), summaries)
        _moved(figures["moved"].subplots(), summaries)
        _trained(figures["trained"].subplots(), shown)
        for name, figure in figures.items():
            for extension in formats:
                path = folder / f"{name}.{extension}"
                figure.savefig(path, dpi=150, metadata={"Date": None} if extension == "svg" else None)
                paths.append(path)
    return paths


def _accuracy(axes: "Axes", summaries: Sequence[SchemeSummary]) -> None:
    for summary in summaries:
        mean, deviation = np.array(summary.accuracy), np.array(summary.accuracy_deviation)
        k = np.arange(len(mean))
        (line,) = axes.plot(k, mean, marker="o", markersize=3, label=summary.scheme)
        axes.fill_between(k, mean - deviation, mean + deviation, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.set(xlabel="aggregation", ylabel="test accuracy", ylim=(0, 1), title="Accuracy (mean ± deviation)")
    axes.grid(alpha=0.3)
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
    """Stack what each trained device started with and what it received."""
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
