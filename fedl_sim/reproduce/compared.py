"""The schemes that experiments compare: their labels in tables, and their colours in figures.

The paper's `smart` is its GCN with the branch search; `ours` is the default sampler. Both use the same optimised
offloading. Two more schemes separate what each part contributes: the branch search on random scores, without the GCN,
and ours without label counts, which the paper's sampler does not use either.

The committed runs of `smart` bear the name of its sampler, `gcn_branch`. A scheme's name seeds its random numbers, so
the experiments keep that name.
"""

from collections.abc import Mapping

from sampler.scheme_styles import style_of
from sampler.schemes import EVERYONE, find_scheme

__all__ = ["FIGURE_SCHEMES", "LABELS", "TABLE_SCHEMES", "colour_of", "label_of", "moves_data"]

# In the order of the paper's Table I: first without offloading, then with it, our methods last in each part.
TABLE_SCHEMES = (
    "gcn_branch",
    "random",
    "heuristic",
    "ours",
    "greedy:resemblance",
    "gcn_branch+fast",
    "random-offload",
    "heuristic-offload",
    "random_branch+fast",
    "ours-offload",
    "greedy:resemblance+fast",
)
# What the figures show: the paper's six and ours.
FIGURE_SCHEMES = tuple(s for s in TABLE_SCHEMES if s.split("+")[0] not in {"greedy:resemblance", "random_branch"})
LABELS: Mapping[str, str] = {
    "gcn_branch": "smart (paper: GCN-branch)",
    "random": "random",
    "heuristic": "heuristic",
    "ours": "ours",
    "greedy:resemblance": "ours, label counts hidden",
    "gcn_branch+fast": "smart w/ offload (paper)",
    "random-offload": "random w/ offload",
    "heuristic-offload": "heuristic w/ offload",
    "ours-offload": "ours w/ offload",
    "greedy:resemblance+fast": "ours w/ offload, label counts hidden",
    "random_branch": "branch, random scores",
    "random_branch+fast": "branch, random scores, w/ offload",
    EVERYONE: "FedL, all nodes",
}


def label_of(scheme: str) -> str:
    """Return the label of a scheme in tables and figures."""
    return LABELS.get(scheme, scheme)


def moves_data(scheme: str) -> bool:
    """Return whether a scheme offloads data."""
    return find_scheme(scheme).offloading != "none"


def colour_of(scheme: str) -> str:
    """Return the colour of a scheme's sampler; black for all nodes."""
    return style_of(scheme).colour
