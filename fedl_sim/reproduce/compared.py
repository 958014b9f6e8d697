"""The schemes that experiments compare, what they are called in tables, and how they are drawn.

The paper's "smart" is its GCN with the branch search; ours is the default sampler. Both solve the same offloading.
Beside the paper's stands the same branch search with random scores; beside ours what it does when nobody tells label
counts, which the paper's sampler is not told either.
"""

from collections.abc import Mapping

from fedl_sim.loop.schemes import find_scheme

__all__ = ["COLOURS", "EVERYONE", "FIGURE_SCHEMES", "LABELS", "TABLE_SCHEMES", "colour_of", "label_of", "moves_data"]

EVERYONE = "all"
# Told apart by colour-blind readers too; offloading is told by the line.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_COLOUR_OF: Mapping[str, str] = {
    "gcn_branch": COLOURS[0],
    "random": COLOURS[1],
    "heuristic": COLOURS[2],
    "greedy": COLOURS[3],
    "greedy:resemblance": COLOURS[4],
    "random_branch": COLOURS[5],
}
# The order of the paper's Table I, each part with our methods after it.
TABLE_SCHEMES = (
    "gcn_branch",
    "random",
    "heuristic",
    "smart",
    "greedy:resemblance",
    "gcn_branch+fast",
    "random-offload",
    "heuristic-offload",
    "random_branch+fast",
    "smart-offload",
    "greedy:resemblance+fast",
)
# What the figures show: the paper's six and ours.
FIGURE_SCHEMES = tuple(s for s in TABLE_SCHEMES if s.split("+")[0] not in {"greedy:resemblance", "random_branch"})
LABELS: Mapping[str, str] = {
    "gcn_branch": "smart (paper: GCN-branch)",
    "random": "random",
    "heuristic": "heuristic",
    "smart": "ours",
    "greedy:resemblance": "ours, label counts hidden",
    "gcn_branch+fast": "smart w/ offload (paper)",
    "random-offload": "random w/ offload",
    "heuristic-offload": "heuristic w/ offload",
    "smart-offload": "ours w/ offload",
    "greedy:resemblance+fast": "ours w/ offload, label counts hidden",
    "random_branch": "branch, random scores",
    "random_branch+fast": "branch, random scores, w/ offload",
    "all": "FedL, all nodes",
}


def label_of(scheme: str) -> str:
    """What a scheme is called in tables and figures."""
    return LABELS.get(scheme, scheme)


def moves_data(scheme: str) -> bool:
    """Whether it offloads."""
    return find_scheme(scheme).offloading != "none"


def colour_of(scheme: str) -> str:
    """By who chooses; black for all nodes."""
    return _COLOUR_OF.get(find_scheme(scheme).sampler, "black")
