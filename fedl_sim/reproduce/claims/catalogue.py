"""The claims: those of the paper (Sec. V-B), and those that are made here about the default method.

The paper trains its GCN on the loss that FedL reaches, "its own label". Ours has also learned from the surrogate,
eq. (26), on twice as many networks. Nobody knows which of the two is closer to what the paper ran, so each claim of the
paper is tested with both, and ours has to beat both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fedl_sim.reproduce.claims.contrasts import Contrast
from fedl_sim.reproduce.compared import AGAIN
from sampler.schemes import EVERYONE

__all__ = [
    "CLAIMS",
    "FIGURE_RIVALS",
    "HIDDEN",
    "OURS",
    "OURS_CLAIMS",
    "OWN_LABEL",
    "PAPERS_CLAIMS",
    "RIVALS",
    "SURROGATE",
    "Claim",
]

OWN_LABEL, SURROGATE = "gcn_branch_fedl", "gcn_branch"
OURS, HIDDEN = "ours-offload", "greedy:resemblance+fast"
_METHODS = (f"{OWN_LABEL}+fast", f"{SURROGATE}+fast")
_RANDOM_SCORES = "random_branch+fast"
_BASELINES = ("random-offload", "heuristic-offload")
_STILL = ("random", "heuristic")
# All that the default method has to beat, in one family of Holm's method; Figs. 6 to 8 have no random scores.
FIGURE_RIVALS = (*_METHODS, *_BASELINES)
RIVALS = (*FIGURE_RIVALS, _RANDOM_SCORES)
_DATA_SETS = ("mnist", "fashion-mnist")


@dataclass(frozen=True)
class Claim:
    """A sentence that is true if every one of its contrasts is shown.

    Attributes:
        name: in markers of documents.
        said: the sentence; of the paper's claims with the paper's number.
        source: which runs decide: `figures` (Figs. 6 and 7), `resources` (those of Fig. 8) or `table` (Table I).
        contrasts: what is compared; p-values are adjusted over them by Holm's method.
    """

    name: str
    said: str
    source: str
    contrasts: tuple[Contrast, ...]


def _against(
    one: str,
    rivals: Sequence[str],
    measure: str,
    data_set: str | None = None,
    sample_sizes: tuple[int, ...] | None = None,
) -> tuple[Contrast, ...]:
    return tuple(Contrast(one, rival, measure, data_set, sample_sizes) for rival in rivals)


def _papers(label: str) -> tuple[Claim, ...]:
    """Return the paper's claims, with the GCN that learned from this label as the paper's method."""
    return (*_papers_accuracy(label), *_papers_costs(label))


def _papers_accuracy(label: str) -> tuple[Claim, ...]:
    smart = f"{label}+fast"
    return (
        *(
            Claim(
                f"few-above-all-{group}-{label}",
                f"few devices chosen by smart sampling with offloading end above FedL on all nodes, {told}",
                "figures",
                _against(smart, [EVERYONE], "accuracy", sample_sizes=sizes),
            )
            # The paper excepts two plots, (a) and (d) of Fig. 6, which have three devices.
            for group, sizes, told in (("more", (4, 5), "S = 4, 5"), ("three", (3,), "S = 3 (the paper: not always)"))
        ),
        Claim(
            f"smart-most-accurate-{label}",
            "smart with offloading ends above every other sampled scheme",
            "figures",
            _against(smart, (*_BASELINES, label, *_STILL), "accuracy"),
        ),
        *(
            Claim(
                f"smart-leads-{data_set}-{label}",
                f"without offloading smart ends above random and heuristic devices on {data_set} "
                f"(the paper: by more than {number} points)",
                "figures",
                _against(label, _STILL, "accuracy", data_set),
            )
            for data_set, number in zip(_DATA_SETS, (20, 10), strict=True)
        ),
        Claim(
            f"offloading-adds-more-{label}",
            "offloading adds more to smart sampling than to random and heuristic sampling",
            "figures",
            tuple(Contrast(smart, f"{still}-offload", "accuracy", added_to=(label, still)) for still in _STILL),
        ),
    )


def _papers_costs(label: str) -> tuple[Claim, ...]:
    smart = f"{label}+fast"
    return (
        Claim(
            f"offloading-speeds-up-{label}",
            "offloading speeds up smart, random and heuristic sampling",
            "table",
            (
                Contrast(smart, label, "aggregations"),
                *(Contrast(f"{still}-offload", still, "aggregations") for still in _STILL),
            ),
        ),
        *(
            Claim(
                f"smart-fastest-{data_set}-{label}",
                f"smart with offloading is the fastest on {data_set} (the paper: by {number} % on average)",
                "table",
                _against(smart, _BASELINES, "aggregations", data_set),
            )
            for data_set, number in zip(_DATA_SETS, (40, 50), strict=True)
        ),
        Claim(
            f"smart-fewer-datapoints-{label}",
            "smart with offloading needs the fewest datapoints (Fig. 8; the paper: 40 % fewer on average)",
            "resources",
            _against(smart, _BASELINES, "datapoints"),
        ),
        Claim(
            f"smart-fewer-datapoints-still-{label}",
            "without offloading smart needs the fewest datapoints too (Fig. 8)",
            "resources",
            _against(label, _STILL, "datapoints"),
        ),
        Claim(
            f"gcn-scales-{label}",
            "a GCN that learned on ten devices serves large networks: against random scores in the same search",
            "table",
            _against(smart, [_RANDOM_SCORES], "aggregations"),
        ),
    )


def _ours(arm: str, prefix: str, said: str) -> tuple[Claim, ...]:
    """Return the claims about the default method, with label counts or without."""
    return (
        *(
            Claim(
                f"{prefix}-aggregations{suffix}",
                f"{said} needs fewer aggregations than its rivals{where}",
                "table",
                _against(arm, RIVALS, "aggregations", data_set),
            )
            for data_set, suffix, where in _PLACES
        ),
        Claim(
            f"{prefix}-datapoints",
            f"{said} needs fewer datapoints than its rivals (Table I)",
            "table",
            _against(arm, RIVALS, "datapoints"),
        ),
        Claim(
            f"{prefix}-accuracy",
            f"{said} ends above its rivals",
            "figures",
            _against(arm, FIGURE_RIVALS, "accuracy"),
        ),
        Claim(
            f"{prefix}-above-all",
            f"{said} ends above FedL on all nodes",
            "figures",
            _against(arm, [EVERYONE], "accuracy"),
        ),
        *(
            Claim(
                f"{prefix}-resources{suffix}",
                f"{said} needs fewer datapoints than its rivals (Fig. 8){where}",
                "resources",
                _against(arm, FIGURE_RIVALS, "datapoints", data_set),
            )
            for data_set, suffix, where in _PLACES
        ),
    )


_PLACES = ((None, "", ""), *((name, f"-{name}", f" on {name}") for name in _DATA_SETS))
_SOURCES = {"accuracy": "figures", "aggregations": "table", "datapoints": "table"}
# One tuple for each label: the same claims in the same order.
PAPERS_CLAIMS = {label: _papers(label) for label in (OWN_LABEL, SURROGATE)}
OURS_CLAIMS = (
    *_ours(OURS, "ours", "ours"),
    *_ours(HIDDEN, "ours-hidden", "ours without label counts"),
    *(
        Claim(
            f"ours-again-{measure}",
            f"ours with other random numbers, {measure}: against its rivals",
            _SOURCES[measure],
            _against(AGAIN, rivals, measure),
        )
        for measure, rivals in (("accuracy", FIGURE_RIVALS), ("aggregations", RIVALS))
    ),
    *(
        Claim(
            f"chance-{measure}",
            f"A/A: ours against itself with other random numbers, {measure}",
            source,
            _against(OURS, [AGAIN], measure),
        )
        for measure, source in _SOURCES.items()
    ),
    Claim(
        "ours-offloading-speeds-up",
        "offloading speeds up ours",
        "table",
        (Contrast(OURS, "ours", "aggregations"), Contrast(HIDDEN, "greedy:resemblance", "aggregations")),
    ),
    Claim(
        "random-above-all",
        "random devices with random offloading end above FedL on all nodes, S = 4, 5",
        "figures",
        _against("random-offload", [EVERYONE], "accuracy", sample_sizes=(4, 5)),
    ),
    *(
        Claim(
            f"own-label-{measure}",
            f"the GCN that learned from FedL's loss is better than the one that learned from the surrogate: {measure}",
            source,
            _against(_METHODS[0], [_METHODS[1]], measure),
        )
        for measure, source in _SOURCES.items()
    ),
)
CLAIMS = (*(claim for claims in PAPERS_CLAIMS.values() for claim in claims), *OURS_CLAIMS)
