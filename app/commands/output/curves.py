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
    """Draw accuracy and error of every scheme from the service's answer; the picture explains bands, runs, target."""
    # A figure of its own, not pyplot: no global state, no display.
    from matplotlib import rc_context  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - optional

    figure = Figure(figsize=(10, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    target = validation["target"]
    for axes in (left, right):
        for scheme in validation["schemes"]:
            _draw(axes, scheme, as_error=axes is right)
        axes.axhline(
            target if axes is left else 1 - target,
            color="grey",
            linewidth=0.8,
            linestyle=":",
            label=f"target {target:g}",
        )
        axes.set_xlabel("aggregation")
        axes.margins(x=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    left.set(ylabel="test accuracy", ylim=(0, 1))
    # Near its end accuracy joins lines that the error separates.
    right.set(ylabel="test error, 1 − accuracy (log scale)", yscale="log", ylim=(None, 1))
    right.yaxis.set_major_locator(FixedLocator([0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0]))
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter(NullFormatter())
    title = "Lines: mean over runs. Bands: ± one standard deviation. Dashed: no offloading."
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, title=title)
    figure.suptitle(f"{validation['data_set']}, S = {validation['sample_size']}, {validation['state']}")
    # Text stays text in SVG, and the same picture is the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "fedsift"}):
        figure.savefig(path, dpi=150)


def _draw(axes: Any, scheme: dict[str, Any], *, as_error: bool) -> None:
    mean, deviation = scheme["accuracy"]["mean"], scheme["accuracy"]["deviation"]
    shown = [1 - m for m in mean] if as_error else mean
    style, k = style_of(scheme["scheme"]), range(len(shown))
    axes.plot(k, shown, style.dash, color=style.colour, marker="o", markersize=3, label=_label(scheme))
    low = [max(m - d, 1e-3) for m, d in zip(shown, deviation, strict=True)]
    high = [m + d for m, d in zip(shown, deviation, strict=True)]
    axes.fill_between(k, low, high, color=style.colour, alpha=0.12, linewidth=0)


def _label(scheme: dict[str, Any]) -> str:
    """The scheme with its runs, and how many of those that ended have reached the target if not all."""
    runs = f"{scheme['scheme']}, {scheme['runs']} of {scheme['runs_planned']} runs"
    return runs if scheme["reached"] == 1 else f"{runs}, target reached by {scheme['reached']:.0%}"
