"""The claims: those of the paper (Sec. V-B), and those that are made here about the default method."""

from collections.abc import Sequence
from dataclasses import dataclass

from fedl_sim.reproduce.claims.contrasts import Contrast
from fedl_sim.reproduce.compared import AGAIN
from sampler.schemes import EVERYONE

__all__ = ["CLAIMS", "HIDDEN", "OURS", "Claim"]

SMART, OURS, HIDDEN = "gcn_branch+fast", "ours-offload", "greedy:resemblance+fast"
# The paper's method trained on the paper's own label, the loss that FedL reaches.
OWN_LABEL = "gcn_branch_fedl+fast"
# Ours has to beat both: nobody knows which of them is closer to what the paper ran.
METHODS = (SMART, OWN_LABEL)
RANDOM_SCORES = "random_branch+fast"
BASELINES = ("random-offload", "heuristic-offload")
STILL = ("random", "heuristic")
DATA_SETS = ("mnist", "fashion-mnist")


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
        _against(SMART, (*BASELINES, "gcn_branch", *STILL), "accuracy"),
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
        "smart-fewer-datapoints-still",
        "without offloading smart needs the fewest datapoints too",
        "resources",
        _against("gcn_branch", STILL, "datapoints"),
    ),
    Claim(
        "gcn-scales",
        "a GCN trained on ten devices serves large networks (against random scores in its search)",
        "table",
        _against(SMART, [RANDOM_SCORES], "aggregations"),
    ),
    *(
        Claim(
            name,
            f"the GCN trained on FedL's loss, the paper's own label, against one trained on the surrogate: {measure}",
            source,
            _against(OWN_LABEL, [SMART], measure),
        )
        for name, source, measure in (
            ("own-label", "table", "aggregations"),
            ("own-label-accuracy", "figures", "accuracy"),
        )
    ),
)
_OURS = (
    Claim(
        "ours-aggregations",
        "ours needs fewer aggregations than the paper's method",
        "table",
        _against(OURS, METHODS, "aggregations"),
    ),
    *(
        Claim(
            f"ours-aggregations-{data_set}",
            f"ours needs fewer aggregations than the paper's method on {data_set}",
            "table",
            _against(OURS, METHODS, "aggregations", data_set),
        )
        for data_set in DATA_SETS
    ),
    Claim(
        "ours-aggregations-others",
        "ours needs fewer aggregations than the other schemes with offloading",
        "table",
        _against(OURS, (*BASELINES, RANDOM_SCORES), "aggregations"),
    ),
    Claim(
        "ours-hidden-aggregations",
        "ours without label counts needs fewer aggregations than the paper's method",
        "table",
        _against(HIDDEN, METHODS, "aggregations"),
    ),
    Claim(
        "ours-datapoints",
        "ours needs fewer datapoints than the paper's method",
        "table",
        _against(OURS, METHODS, "datapoints"),
    ),
    Claim(
        "ours-datapoints-others",
        "ours needs fewer datapoints than the other schemes with offloading",
        "table",
        _against(OURS, (*BASELINES, RANDOM_SCORES), "datapoints"),
    ),
    Claim(
        "ours-accuracy",
        "ours ends above the paper's schemes with offloading",
        "figures",
        _against(OURS, (*METHODS, *BASELINES), "accuracy"),
    ),
    Claim("ours-above-all", "ours ends above FedL on all nodes", "figures", _against(OURS, [EVERYONE], "accuracy")),
    *(
        Claim(
            f"ours-resources{suffix}",
            f"ours needs fewer datapoints than the paper's schemes with offloading{where} (Fig. 8)",
            "resources",
            _against(OURS, (*METHODS, *BASELINES), "datapoints", data_set),
        )
        for data_set, suffix, where in ((None, "", ""), *((name, f"-{name}", f" on {name}") for name in DATA_SETS))
    ),
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
