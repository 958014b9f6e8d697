"""Class-conditional offloading: senders send first what the receiver lacks, where the set is given.

The set and the amounts are the same with and without it, only the choice of datapoints differs. Each sampler's sets are
compared with themselves.
"""

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.compared import Arm
from fedl_sim.reproduce.studies.variants import Variant, groups_sending_once, variants_study
from fedl_sim.reproduce.study import Scope, Study

__all__ = ["labels_study"]

_SETS = {"random": "random+fast", "smart": "gcn_branch+fast", "ours": "ours-offload"}


def labels_study(template: Cell, scope: Scope) -> Study:
    """Digits under loose budgets and MNIST under tight ones, N = 100, S = 5."""
    groups = groups_sending_once(template, _variants(), quick=scope.quick)
    return variants_study("labels", "Sending first the labels that a receiver lacks", groups, scope, ())


def _variants() -> tuple[Variant, ...]:
    found = []
    for name, scheme in _SETS.items():
        found += [
            Variant(Arm(f"{name}, any", f"{name} sets, any datapoints", scheme)),
            Variant(
                Arm(f"{name}, again", f"{name} sets, other random numbers (A/A)", scheme, luck=1),
                f"{name}, any",
                "chance",
            ),
            Variant(
                Arm(f"{name}, lacking", f"{name} sets, lacking labels first", scheme, run={"send": "lacking"}),
                f"{name}, any",
                "order of labels",
            ),
        ]
    return tuple(found)
