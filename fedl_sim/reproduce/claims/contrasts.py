"""Contrasts: two arms compared network by network, in final accuracy or in what it takes to reach a target.

S = 3, 4, 5 share networks, so a network's value is the mean over S, over the draws of random sets, and over targets if
there are several. Networks of one seed are one cluster (`fedl_sim.paired.clustered`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fedl_sim.paired import Clustered, clustered
from fedl_sim.reproduce.claims.curves import Curve, Curves, Panel

__all__ = ["FEW", "Contrast", "Effect", "Targets", "effect_of"]

# With fewer seeds nothing counts as shown.
FEW = 5

Targets = Callable[[Panel], Sequence[float]]


@dataclass(frozen=True)
class Contrast:
    """One arm against another; larger is better for the first.

    Attributes:
        one: the arm that a claim is about.
        other: its rival.
        measure: accuracy, aggregations or datapoints.
        data_set: on this one alone; None is on all.
        sample_sizes: with these S alone; None is with all.
        added_to: two arms without offloading, if the claim is about what offloading adds to each.
    """

    one: str
    other: str
    measure: str
    data_set: str | None = None
    sample_sizes: tuple[int, ...] | None = None
    added_to: tuple[str, str] | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        """All arms that it needs."""
        return self.one, self.other, *(self.added_to or ())


@dataclass(frozen=True)
class Effect:
    """What a contrast measured: points of accuracy, or the share of the rival's cost that is saved, in percent.

    Attributes:
        contrast: what was compared.
        mean: over seeds.
        low: lower end of the 95 % interval.
        high: upper end of it.
        p_value: of the t test over seeds.
        seeds: how many.
        networks: how many in all.
        reached: in which share of runs the first arm reached the target; 1 for accuracy.
        other_reached: the same of its rival.
    """

    contrast: Contrast
    mean: float
    low: float
    high: float
    p_value: float
    seeds: int
    networks: int
    reached: float = 1.0
    other_reached: float = 1.0

    @property
    def verdict(self) -> str:
        """What the test allows to say: the first arm is better, worse, or neither is shown.

        With few seeds a t test leans on their being normal, so what it finds is indicated only.
        """
        if self.seeds < 2:
            return "no test"
        if self.p_value >= 0.05:
            return "not shown"
        better = "shown" if self.seeds >= FEW else "indicated"
        return better if self.mean > 0 else "contradicted"


def effect_of(curves: Curves, contrast: Contrast, targets: Targets) -> Effect | None:
    """Evaluate a contrast; None if an arm has not run."""
    by_network: dict[tuple[int, str, int], list[float]] = {}
    reached: list[tuple[float, float]] = []
    for panel, seed, found in curves.common(
        *contrast.arms, data_set=contrast.data_set, sample_sizes=contrast.sample_sizes
    ):
        key = seed, panel.data_set, panel.n_devices
        goals = targets(panel)
        if contrast.measure != "accuracy" and np.isnan(goals).any():
            continue  # all nodes have not run
        by_network.setdefault(key, []).append(_advantage(contrast, found, goals))
        if contrast.measure != "accuracy":
            reached.append((found[0].reached(goals), found[1].reached(goals)))
    by_seed: dict[int, list[float]] = {}
    for (seed, _, _), values in by_network.items():
        by_seed.setdefault(seed, []).append(float(np.mean(values)))
    if not by_seed:
        return None
    effect = _shown(contrast, clustered(by_seed))
    if not reached:
        return effect
    one, other = np.mean(reached, axis=0)
    return replace(effect, reached=float(one), other_reached=float(other))


def _advantage(contrast: Contrast, found: tuple[Curve, ...], targets: Sequence[float]) -> float:
    """Return points, or for costs the logarithm of the rival's over the first's, the mean over targets and draws."""
    if contrast.measure == "accuracy":
        one, other, *bare = (100 * curve.final for curve in found)
        return one - other - (bare[0] - bare[1] if bare else 0.0)
    mine, rivals = (
        [np.log(np.maximum(curve.costs(target, contrast.measure), 1e-9)).mean() for target in targets]
        for curve in found
    )
    return float(np.mean(rivals) - np.mean(mine))


def _shown(contrast: Contrast, found: Clustered) -> Effect:
    ends = (found.mean, found.low, found.high)
    if contrast.measure != "accuracy":
        # A logarithm of a ratio as the share saved: it rises with it, so the interval stays an interval.
        ends = tuple(-100 * math.expm1(-min(end, 700.0)) if end > -700 else -math.inf for end in ends)  # type: ignore[assignment]
    mean, low, high = ends
    return Effect(contrast, mean, low, high, found.p_value, found.clusters, found.networks)
