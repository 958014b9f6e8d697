"""A validation's curves as a picture."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from solver.errors import InvalidInputError, MissingExtraError

__all__ = ["check_picture", "save_curves"]

_ENDINGS = (".png", ".svg", ".pdf")


def check_picture(path: Path, option: str = "--output") -> None:
    """Refuse, before any work, what could not be drawn after it.

    Raises:
        InvalidInputError: the ending names no picture, or the folder cannot be made.
        MissingExtraError: matplotlib is not installed.
    """
    if path.suffix not in _ENDINGS:
        raise InvalidInputError(f"{option} {path}", f"must end in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib: install fedsift[plots]")
    path.parent.mkdir(parents=True, exist_ok=True)


def save_curves(validation: dict[str, Any], path: Path) -> None:
    """Draw accuracy and loss of every scheme, mean and deviation over runs, from the service's answer."""
    # A figure of its own, not pyplot: no global state, no display.
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, measure in zip(figure.subplots(1, 2), ("accuracy", "loss"), strict=True):
        for scheme in validation["schemes"]:
            mean, deviation = scheme[measure]["mean"], scheme[measure]["deviation"]
            k = range(len(mean))
            (line,) = axes.plot(k, mean, marker="o", markersize=3, label=scheme["scheme"])
            low = [m - d for m, d in zip(mean, deviation, strict=True)]
            high = [m + d for m, d in zip(mean, deviation, strict=True)]
            axes.fill_between(k, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
        axes.set(xlabel="aggregation", ylabel=f"test {measure}")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylim(0, 1)
    figure.axes[0].axhline(validation["target"], color="grey", linewidth=0.8, linestyle="--")
    figure.axes[0].legend(fontsize="small")
    figure.suptitle(f"{validation['data_set']}, S = {validation['sample_size']}, {validation['state']}")
    figure.savefig(path, dpi=150)
