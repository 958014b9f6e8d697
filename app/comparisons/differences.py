"""Groups of rows held against their baseline, seed by seed: what the seeds have in common cancels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.comparisons.groups import Mean
from app.comparisons.rows import Figures, Row

__all__ = ["PairedDifference", "paired_difference", "tied"]


@dataclass(frozen=True)
class PairedDifference:
    """Means over pairs of a row and its baseline, row less baseline; `pairs` have a plan on both sides."""

    pairs: int
    tied: bool
    objective: Mean
    sent: Mean
    useful: Mean
    coverage: Mean
    energy: Mean | None


def paired_difference(rows: Sequence[Row], numbers: Sequence[int], baselines: Sequence[int]) -> PairedDifference | None:
    """The rows with these numbers less their baselines, `baselines[i]` of row i; None if no pair has two plans."""
    both = [
        (own, base)
        for number in numbers
        if (own := rows[number].figures) is not None and (base := rows[baselines[number]].figures) is not None
    ]
    if not both:
        return None
    energies = [sum(own.energy) - sum(base.energy) for own, base in both if own.energy and base.energy]
    return PairedDifference(
        pairs=len(both),
        tied=tied([own for own, _ in both], [base for _, base in both]),
        objective=Mean.of([own.objective - base.objective for own, base in both]),
        sent=Mean.of([own.sent - base.sent for own, base in both]),
        useful=Mean.of([own.useful - base.useful for own, base in both]),
        coverage=Mean.of([own.coverage - base.coverage for own, base in both]),
        energy=Mean.of(energies) if energies else None,
    )


def tied(own: Sequence[Figures], base: Sequence[Figures]) -> bool:
    """Whether the mean objectives differ by no more than is certified, by the rule of ranks."""
    difference = np.mean([one.objective for one in own]) - np.mean([one.objective for one in base])
    width = max(np.mean([one.width for one in own]), np.mean([one.width for one in base]))
    return bool(abs(difference) <= width)
