"""A validation's curves as a picture."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sampler.scheme_styles import style_of
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
    """Draw accuracy and loss of every scheme from the service's answer; the picture explains bands, runs and target."""
    # A figure of its own, not pyplot: no global state, no display.
    from matplotlib import rc_context  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - optional

    figure = Figure(figsize=(10, 5), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, measure in zip(panels, ("accuracy", "loss"), strict=True):
        for scheme in validation["schemes"]:
            _draw(axes, scheme, measure)
        axes.set(xlabel="aggregation", ylabel=f"test {measure}")
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
        axes.grid(alpha=0.3)
    panels[0].set_ylim(0, 1)
    target = validation["target"]
    panels[0].axhline(target, color="grey", linewidth=0.8, linestyle=":", label=f"target {target:g}")
    title = "bands: ± one standard deviation over runs; dashed: no offloading"
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, title=title)
    figure.suptitle(f"{validation['data_set']}, S = {validation['sample_size']}, {validation['state']}")
    # Text stays text in SVG, and the same picture is the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fedsift"}):
        figure.savefig(path, dpi=150)


def _draw(axes: Any, scheme: dict[str, Any], measure: str) -> None:
    mean, deviation = scheme[measure]["mean"], scheme[measure]["deviation"]
    style, k = style_of(scheme["scheme"]), range(len(mean))
    axes.plot(k, mean, style.dash, color=style.colour, marker="o", markersize=3, label=_label(scheme))
    low = [m - d for m, d in zip(mean, deviation, strict=True)]
    high = [m + d for m, d in zip(mean, deviation, strict=True)]
    axes.fill_between(k, low, high, color=style.colour, alpha=0.12, linewidth=0)


def _label(scheme: dict[str, Any]) -> str:
    """The scheme with its runs, and how many of those that ended have reached the target if not all."""
    runs = f"{scheme['scheme']}, {scheme['runs']} of {scheme['runs_planned']} runs"
    return runs if scheme["reached"] == 1 else f"{runs}, target reached by {scheme['reached']:.0%}"
