"""How many devices are worth it: the objective over the sample size, as a picture."""

from itertools import cycle
from pathlib import Path
from typing import Any

from app.comparisons.answer import ComparisonGroup, ComparisonOut
from sampler.scheme_styles import sampler_colour

__all__ = ["save_size_figure"]

_DASHES = ("-", "--", "-.", ":")


def save_size_figure(compared: ComparisonOut, path: Path) -> None:
    """Draw a panel for each budget scale: a line for each sampler, its interval, and below what no choice can go.

    `check_picture` says before whether that is possible.
    """
    # A figure of its own, not pyplot: no global state, no display.
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    scales = list(dict.fromkeys(group.budget_scale for group in compared.groups))
    figure = Figure(figsize=(1.5 + 4.5 * len(scales), 4.2), layout="constrained")
    panels = figure.subplots(1, len(scales), squeeze=False, sharey=True)[0]
    for axes, scale in zip(panels, scales, strict=True):
        _panel(axes, [group for group in compared.groups if group.budget_scale == scale and group.objective])
        axes.set_title(f"budgets × {scale:g}", fontsize="medium")
    panels[0].set_ylabel("objective (less is better)")
    panels[0].legend(fontsize="small")
    figure.suptitle(f"How many of {compared.n_devices} devices are worth it", fontsize="large")
    figure.savefig(path, dpi=150)


def _panel(axes: Any, groups: list[ComparisonGroup]) -> None:
    samplers = list(dict.fromkeys(group.sampler for group in groups))
    for sampler, dash in zip(samplers, cycle(_DASHES), strict=False):
        colour = sampler_colour(sampler)
        own = sorted((group for group in groups if group.sampler == sampler), key=lambda group: group.sample_size)
        sizes = [group.sample_size for group in own]
        means = [group.objective for group in own if group.objective]
        axes.plot(sizes, [one.mean for one in means], dash, color=colour, marker="o", markersize=3.5, label=sampler)
        if any(one.low is not None for one in means):
            ends = [
                (one.mean if one.low is None else one.low, one.mean if one.high is None else one.high) for one in means
            ]
            label = "95 % interval over seeds" if sampler == samplers[0] else None
            low, high = zip(*ends, strict=True)
            axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0, label=label)
    bounds = sorted({group.sample_size: group.set_bound for group in groups}.items())
    if bounds:
        axes.plot(*zip(*bounds, strict=True), color="black", linewidth=1, label="no choice of devices goes below")
        axes.set_xticks([size for size, _ in bounds])
    axes.set_xlabel("devices that train, S")
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.grid(alpha=0.3)
