"""The schemes that experiments compare, and what they are called in tables.

The paper's "smart" is its GCN with the branch search; ours is the default sampler. Both solve the same offloading.
"""

from collections.abc import Mapping

__all__ = ["COLOURS", "EVERYONE", "LABELS", "OURS", "PAPER", "TABLE_SCHEMES", "label_of"]

EVERYONE = "all"
# By sampler, told apart by colour-blind readers too; offloading is told by the line.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00")
PAPER = ("gcn_branch", "random", "heuristic", "gcn_branch+fast", "random-offload", "heuristic-offload")
OURS = ("smart", "smart-offload")
# The order of the paper's Table I, each part with our method after it.
TABLE_SCHEMES = (
    "gcn_branch",
    "random",
    "heuristic",
    "smart",
    "gcn_branch+fast",
    "random-offload",
    "heuristic-offload",
    "smart-offload",
)
LABELS: Mapping[str, str] = {
    "gcn_branch": "smart (paper: GCN-branch)",
    "random": "random",
    "heuristic": "heuristic",
    "smart": "ours",
    "gcn_branch+fast": "smart w/ offload (paper)",
    "random-offload": "random w/ offload",
    "heuristic-offload": "heuristic w/ offload",
    "smart-offload": "ours w/ offload",
    "random_branch": "branch, random scores",
    "random_branch+fast": "branch, random scores, w/ offload",
    "all": "FedL, all nodes",
}


def label_of(scheme: str) -> str:
    """What a scheme is called in tables and figures."""
    return LABELS.get(scheme, scheme)
