"""The claims: those of the paper (Sec. V-B), and those that are made here about the default method."""

from collections.abc import Sequence
from dataclasses import dataclass

from fedl_sim.reproduce.claims.contrasts import Contrast
from fedl_sim.reproduce.compared import AGAIN
from sampler.schemes import EVERYONE

__all__ = ["CLAIMS", "Claim"]

SMART, OURS, HIDDEN = "gcn_branch+fast", "ours-offload", "greedy:resemblance+fast"
BASELINES = ("random-offload", "heuristic-offload")
STILL = ("random", "heuristic")


@dataclass(frozen=True)
class Claim:
    """A sentence that is true if every one of its contrasts is shown.

    Attributes:
        name: in markers of documents.
        said: the sentence.
        source: which runs decide: `figures` (Figs. 6 and 7), `resources` (those of Fig. 8) or `table` (Table I).
        contrasts: what is compared; p-values are adjusted over them by Holm's method.
        number: the paper's number for it, in points or percent.
        ours: it is a claim of this project, not of the paper.
    """

    name: str
    said: str
    source: str
    contrasts: tuple[Contrast, ...]
    number: float | None = None
    ours: bool = False


def _against(one: str, rivals: Sequence[str], measure: str, data_set: str | None = None) -> tuple[Contrast, ...]:
    return tuple(Contrast(one, rival, measure, data_set) for rival in rivals)


_PAPERS = (
    Claim(
        "few-above-all",
        "few sampled devices with offloading end above FedL on all nodes",
        "figures",
        _against(SMART, [EVERYONE], "accuracy"),
    ),
    Claim(
        "offloading-speeds-up",
        "offloading speeds up every scheme",
        "table",
        (
            Contrast(SMART, "gcn_branch", "aggregations"),
            *(Contrast(f"{still}-offload", still, "aggregations") for still in STILL),
        ),
    ),
    *(
        Claim(
            f"smart-fastest-{data_set}",
            f"smart with offloading is the fastest on {data_set}",
            "table",
            _against(SMART, BASELINES, "aggregations", data_set),
            number,
        )
        for data_set, number in (("mnist", 40.0), ("fashion-mnist", 50.0))
    ),
    Claim(
        "smart-most-accurate",
        "smart with offloading ends above every other sampled scheme",
        "figures",
        _against(SMART, BASELINES, "accuracy"),
    ),
    *(
        Claim(
            f"smart-leads-{data_set}",
            f"without offloading smart ends above random and heuristic devices on {data_set}",
            "figures",
            _against("gcn_branch", STILL, "accuracy", data_set),
            number,
        )
        for data_set, number in (("mnist", 20.0), ("fashion-mnist", 10.0))
    ),
    Claim(
        "offloading-adds-more",
        "offloading adds more to smart sampling than to random and heuristic sampling",
        "figures",
        tuple(Contrast(SMART, f"{still}-offload", "accuracy", added_to=("gcn_branch", still)) for still in STILL),
    ),
    Claim(
        "smart-fewer-datapoints",
        "smart with offloading needs the fewest datapoints",
        "resources",
        _against(SMART, BASELINES, "datapoints"),
        40.0,
    ),
    Claim(
        "gcn-scales",
        "a GCN trained on ten devices serves large networks (against random scores in its search)",
        "table",
        _against(SMART, ["random_branch+fast"], "aggregations"),
    ),
    Claim(
        "own-label",
        "the GCN trained on FedL's loss, the paper's own label, against the one trained on the surrogate",
        "table",
        _against("gcn_branch_fedl+fast", [SMART], "aggregations"),
    ),
)
_OURS = (
    Claim("ours-aggregations", "ours needs fewer aggregations", "table", _against(OURS, [SMART], "aggregations")),
    Claim("ours-datapoints", "ours needs fewer datapoints", "table", _against(OURS, [SMART], "datapoints")),
    *(
        Claim(
            f"ours-aggregations-{data_set}",
            f"ours needs fewer aggregations on {data_set}",
            "table",
            _against(OURS, [SMART], "aggregations", data_set),
        )
        for data_set in ("mnist", "fashion-mnist")
    ),
    Claim(
        "ours-hidden-aggregations",
        "ours needs fewer aggregations without label counts too",
        "table",
        _against(HIDDEN, [SMART], "aggregations"),
    ),
    Claim(
        "ours-accuracy",
        "ours ends above every sampled scheme of the paper",
        "figures",
        _against(OURS, [SMART, *BASELINES], "accuracy"),
    ),
    Claim("ours-above-all", "ours ends above FedL on all nodes", "figures", _against(OURS, [EVERYONE], "accuracy")),
    Claim("ours-resources", "ours needs fewer datapoints (Fig. 8)", "resources", _against(OURS, [SMART], "datapoints")),
    Claim("chance-accuracy", "A/A: ours against itself, accuracy", "figures", _against(OURS, [AGAIN], "accuracy")),
    Claim("chance-speed", "A/A: ours against itself, aggregations", "table", _against(OURS, [AGAIN], "aggregations")),
    Claim(
        "random-above-all",
        "random devices with random offloading end above FedL on all nodes",
        "figures",
        _against("random-offload", [EVERYONE], "accuracy"),
    ),
)
CLAIMS = (*_PAPERS, *(Claim(c.name, c.said, c.source, c.contrasts, c.number, ours=True) for c in _OURS))
