"""Figures and the curves on them, for every command that draws."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from solver.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["DPI", "Drawing", "draw_curve", "error_axis", "plain_log_axis", "require_pictures", "save_drawings"]

DPI = 120


@dataclass(frozen=True)
class Drawing:
    """A figure: its size in inches, and the function that draws on the empty figure."""

    width: float
    height: float
    draw: "Callable[[Figure], None]"


def require_pictures() -> None:
    """Tell what figures need before the work that they show.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("figures need matplotlib: install fedsift[plots]")


def save_drawings(drawings: Mapping[str, Drawing], folder: Path, *, dpi: int) -> list[Path]:
    """Write every drawing as PNG and SVG under its name; return the paths.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_pictures()
    # Figures of its own, not pyplot: no global state, no display, safe beside other users of matplotlib.
    from matplotlib import rc_context  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    # A fixed salt keeps SVG identifiers, and so the files, the same from run to run.
    with rc_context({"svg.hashsalt": "fedsift", "svg.fonttype": "none"}):
        for name, drawing in drawings.items():
            figure = Figure(figsize=(drawing.width, drawing.height), layout="constrained")
            drawing.draw(figure)
            for extension in ("png", "svg"):
                path = folder / f"{name}.{extension}"
                figure.savefig(path, dpi=dpi, metadata={"Date": None} if extension == "svg" else None)
                paths.append(path)
    return paths


def draw_curve(
    axes: "Axes", mean: NDArray[np.float64], deviation: NDArray[np.float64] | None, label: str, **style: Any
) -> None:
    """Draw a mean over aggregations, with a band of one deviation around it if given; `style` is the line's."""
    k = np.arange(len(mean))
    (line,) = axes.plot(k, mean, label=label, **style)
    if deviation is not None:
        axes.fill_between(
            k, np.maximum(mean - deviation, 1e-3), mean + deviation, color=line.get_color(), alpha=0.1, linewidth=0
        )
    axes.grid(alpha=0.3)


def plain_log_axis(axis: "Axis") -> None:
    """Write the numbers of a log axis as they are, 0.05 and not 5 × 10⁻², and none between its ticks."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - optional

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def error_axis(axes: "Axes") -> None:
    """Show test errors, 1 − accuracy, on a log scale with plain numbers: near 0 lines separate that accuracy joins."""
    from matplotlib.ticker import FixedLocator, MaxNLocator  # noqa: PLC0415 - optional

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator([0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0]))
    plain_log_axis(axes.yaxis)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0)
    axes.set_ylim(top=1)
