"""What experiments compare: their names in data, labels in tables, and colours in figures.

The paper's `smart` is its GCN with the branch search. It is there twice: trained on a surrogate of the loss, and on the
paper's own label, the loss that FedL reaches with each set (`gcn_branch_fedl`). `ours` is the default sampler. All use
the same optimised offloading. Two more schemes separate what each part contributes: the branch search on random scores,
without the GCN, and ours without label counts, which the paper's sampler does not use either.

An A/A row is ours once more with other random numbers on the same networks: what separates it from ours is chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fedl_sim.reproduce.cell import Cell
from sampler.scheme_styles import style_of
from sampler.schemes import DRAWS, EVERYONE, find_scheme

__all__ = [
    "ACCURACY_SCHEMES",
    "AGAIN",
    "FIGURE_SCHEMES",
    "SHARES",
    "TABLE_SCHEMES",
    "Arm",
    "arm_named",
    "cells_of",
    "colour_of",
    "label_of",
    "moves_data",
    "named_by_label",
]

AGAIN = "ours-offload (A/A)"
# The target of Table I, of the final accuracy of FedL on all nodes, as the paper has it; digits are ours.
SHARES: Mapping[str, float] = {"mnist": 0.85, "fashion-mnist": 0.65, "digits": 0.85}
# In the order of the paper's Table I: first without offloading, then with it, our methods last in each part.
TABLE_SCHEMES = (
    "gcn_branch",
    "gcn_branch_fedl",
    "random",
    "heuristic",
    "ours",
    "greedy:resemblance",
    "gcn_branch+fast",
    "gcn_branch_fedl+fast",
    "random-offload",
    "heuristic-offload",
    "random_branch+fast",
    "ours-offload",
    AGAIN,
    "greedy:resemblance+fast",
)
# Figs. 6 to 8 have fewer, since their runs take longer: no random scores, and hidden label counts with offloading only.
ACCURACY_SCHEMES = tuple(s for s in TABLE_SCHEMES if s not in {AGAIN, "greedy:resemblance", "random_branch+fast"})
# What figures draw: the paper's six, its method on its own label, and ours.
FIGURE_SCHEMES = tuple(
    s for s in TABLE_SCHEMES if s != AGAIN and s.split("+")[0] not in {"greedy:resemblance", "random_branch"}
)


@dataclass(frozen=True)
class Arm:
    """A scheme as it is compared, with what is special about it.

    Attributes:
        name: in data.
        label: in tables and figures.
        scheme: see `sampler.schemes.find_scheme`.
        luck: which random numbers training draws.
        realisation: settings of the network that differ from the others'.
        run: settings of the run that differ from the others'.
    """

    name: str
    label: str
    scheme: str
    luck: int = 0
    realisation: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)

    def of(self, template: Cell) -> Cell:
        """Return the template's cell for this arm."""
        return replace(
            template,
            arm=self.name,
            scheme=self.scheme,
            luck=self.luck,
            realisation=replace(template.realisation, **self.realisation),
            run=replace(template.run, **self.run),
        )


_ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        *(
            Arm(name, label, name)
            for name, label in (
                ("gcn_branch", "smart (GCN: surrogate)"),
                ("gcn_branch_fedl", "smart (GCN: FedL's loss)"),
                ("greedy:resemblance", "ours, label counts hidden"),
                ("gcn_branch+fast", "smart w/ offload (GCN: surrogate)"),
                ("gcn_branch_fedl+fast", "smart w/ offload (GCN: FedL's loss)"),
                ("random-offload", "random w/ offload"),
                ("heuristic-offload", "heuristic w/ offload"),
                ("ours-offload", "ours w/ offload"),
                ("greedy:resemblance+fast", "ours w/ offload, label counts hidden"),
                ("random_branch", "branch, random scores"),
                ("random_branch+fast", "branch, random scores, w/ offload"),
                (EVERYONE, "FedL, all nodes"),
            )
        ),
        Arm(AGAIN, "ours w/ offload, other random numbers (A/A)", "ours-offload", luck=1),
    )
}


def arm_named(name: str) -> Arm:
    """Return the arm of that name; a scheme that has none is compared as it is."""
    return _ARMS.get(name) or Arm(name, name, name)


def cells_of(
    template: Cell, *, schemes: Sequence[str | Arm], seeds: tuple[int, ...], draws: int | None = None
) -> tuple[Cell, ...]:
    """Return all runs of these schemes on these seeds with the template's settings; at most `draws` of each network."""
    arms = [one if isinstance(one, Arm) else arm_named(one) for one in schemes]
    return tuple(
        replace(arm.of(template), seed=seed, draw=draw)
        for seed in seeds
        for arm in arms
        for draw in range(_draws_of(arm.scheme))[:draws]
    )


def _draws_of(scheme: str) -> int:
    """Return how many sets a scheme is averaged over.

    Three boards have three ratios of capacity and cost, so among dozens of devices with the largest one chance decides
    whom the heuristic takes: like a random set, it is averaged over several draws.
    """
    found = find_scheme(scheme)
    return DRAWS if found.sampler == "heuristic" else found.draws


def label_of(scheme: str) -> str:
    """Return the label of a scheme in tables and figures."""
    return arm_named(scheme).label


def named_by_label(label: str) -> str:
    """Return the name of what a table calls so; what has no label of its own has its name there."""
    return next((arm.name for arm in _ARMS.values() if arm.label == label), label)


def moves_data(scheme: str) -> bool:
    """Return whether a scheme offloads data."""
    return find_scheme(arm_named(scheme).scheme).offloading != "none"


def colour_of(scheme: str) -> str:
    """Return the colour of a scheme's sampler; black for all nodes."""
    return style_of(arm_named(scheme).scheme).colour
