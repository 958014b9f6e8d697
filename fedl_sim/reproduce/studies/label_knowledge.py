"""Ours as it is used now: data is sent once and orders are carried out, with more or less knowledge of labels.

Label counts are known exactly, with noise of three sizes, or hidden; or nobody measures the similarity of links and it
is derived from label counts. Beside them the paper's method and random devices under the same rules. A device sends
whole datapoints within the budget of a step, so budgets that are below one datapoint move nothing: digits, of which a
device holds few, are there under loose budgets only.
"""

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.compared import Arm, label_of
from fedl_sim.reproduce.studies.variants import Variant, groups_sending_once, variants_study
from fedl_sim.reproduce.study import Scope, Study
from sampler.schemes import EVERYONE

__all__ = ["EPSILONS", "ours_study"]

EPSILONS = (1.0, 0.3, 0.1)
_OURS = "known"


def ours_study(template: Cell, scope: Scope) -> Study:
    """Digits under loose budgets and MNIST under tight ones, N = 100, S = 5."""
    groups = groups_sending_once(template, _variants(), quick=scope.quick)
    return variants_study("ours", "Ours with more or less knowledge of labels", groups, scope, ())


def _variants() -> tuple[Variant, ...]:
    ours = "ours-offload"
    return (
        Variant(Arm(_OURS, "ours, label counts known", ours)),
        *_asking("chance", Arm("again", "ours, other random numbers (A/A)", ours, luck=1)),
        *_asking(
            "knowledge",
            *(
                Arm(
                    f"noisy {epsilon:g}",
                    f"ours, label counts with noise, ε = {epsilon:g}",
                    ours,
                    realisation={"label_epsilon": epsilon},
                )
                for epsilon in EPSILONS
            ),
            Arm("derived", "ours, similarity derived from label counts", ours, realisation={"derive_similarity": True}),
            Arm("hidden", "ours, label counts hidden", ours, realisation={"reveal_labels": False}),
        ),
        *_asking(
            "transfer",
            Arm("redraw", "ours, senders redraw as in the paper", ours, run={"transfer": "redraw"}),
            Arm("unsent", "ours, nothing is sent", "ours"),
        ),
        *_asking(
            "rivals",
            Arm("local search", "local_search", "local_search+fast"),
            Arm("smart", label_of("gcn_branch+fast"), "gcn_branch+fast"),
            Arm("smart fedl", label_of("gcn_branch_fedl+fast"), "gcn_branch_fedl+fast"),
            Arm("random", "random devices, optimised offloading", "random+fast"),
            Arm("heuristic", "heuristic devices, optimised offloading", "heuristic+fast"),
            Arm("all", label_of(EVERYONE), EVERYONE),
        ),
    )


def _asking(question: str, *arms: Arm) -> tuple[Variant, ...]:
    return tuple(Variant(arm, _OURS, question) for arm in arms)
