"""The claims and their tests as tables: a line for a claim, and one for each rival if it has several.

The paper's claims are there with both GCNs, side by side.
"""

from collections.abc import Mapping, Sequence

from fedl_sim.reproduce.claims.catalogue import OURS_CLAIMS, OWN_LABEL, PAPERS_CLAIMS, SURROGATE, Claim
from fedl_sim.reproduce.claims.contrasts import Effect
from fedl_sim.reproduce.claims.effects import Evaluated
from fedl_sim.reproduce.claims.sentences import effect_text, verdict_of
from fedl_sim.reproduce.compared import arm_named, label_of
from fedl_sim.reproduce.tables import Table
from sampler.schemes import find_scheme

__all__ = ["claim_tables"]

_NOTE = (
    "The numbers are points of final accuracy, or the percentage of aggregations or datapoints that is saved until "
    "the target is reached. Square brackets have the 95 % interval. If a run misses the target, we count it as "
    "reached one aggregation after the last: where only the rival misses it, the saving is at least the number, and "
    "where both do, it is uncertain. The value of a network is the mean over S, over draws, and in Fig. 8 over its "
    "four targets, of the logarithm where something is saved. The value of a seed is the mean over its networks. p is "
    "from a t test over seeds, or from a sign test where all seeds agree, adjusted by Holm's method over the rivals "
    "of a claim, not over all claims. Intervals are not adjusted, so that one may leave out 0 where p is above 0.05. "
    "Shown: p < 0.05 against every rival, with five seeds or more. Indicated: the same with fewer seeds. "
    "Contradicted: a rival is better with p < 0.05."
)
_SETTINGS = {"paper": "paper's setting", "fair": "fair setting"}
_BUDGETS = {"paper": "scarce budgets", "tight": "tight budgets", "loose": "loose budgets"}
# The paper's method has a column for each of its GCNs.
_ARMS = {f"{label}+fast": "smart w/ offload" for label in (OWN_LABEL, SURROGATE)}
_LABELS = {OWN_LABEL: "FedL's loss", SURROGATE: "surrogate"}

# A row: one claim, or the same claim with each label of the GCN.
Row = tuple[Claim, ...]
# A column: its heading, the setting, and which of the row's claims it has.
Column = tuple[str, str, int]


def claim_tables(found: Evaluated) -> tuple[Table, ...]:
    """Return the paper's claims, those about ours, and what of both Table I has under other budgets."""
    papers = tuple(zip(*(PAPERS_CLAIMS[label] for label in _LABELS), strict=True))
    ours = tuple((claim,) for claim in OURS_CLAIMS)
    title = "under other budgets, in the paper's setting (Table I)"
    tables = (
        ("claims", "The paper's claims and their tests", papers, _SETTINGS),
        ("claims-ours", "Claims about ours, and their tests", ours, _SETTINGS),
        ("claims-budgets", f"The paper's claims {title}", _of_table(papers), _BUDGETS),
        ("claims-ours-budgets", f"Claims about ours {title}", _of_table(ours), _BUDGETS),
    )
    return tuple(_table(name, about, rows, _columns(rows, settings), found) for name, about, rows, settings in tables)


def _columns(rows: Sequence[Row], settings: Mapping[str, str]) -> list[Column]:
    labels = [f" (GCN: {name})" for name in _LABELS.values()] if len(rows[0]) > 1 else [""]
    return [
        (f"{told}{label}", setting, place) for setting, told in settings.items() for place, label in enumerate(labels)
    ]


def _of_table(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row[0].source == "table")


def _table(name: str, title: str, rows: Sequence[Row], columns: Sequence[Column], found: Evaluated) -> Table:
    headings = [heading for heading, _, _ in columns]
    lines = [
        {"claim": first} | dict(zip(headings, cells, strict=True))
        for row in rows
        for first, *cells in _lines(row[0], [(row[place], found[setting][row[place]]) for _, setting, place in columns])
    ]
    return Table(name, title, ("claim", *headings), tuple(lines), (_NOTE,))


def _lines(first: Claim, cells: Sequence[tuple[Claim, Sequence[Effect]]]) -> list[list[str]]:
    """Return the claim with its verdicts, then each of its rivals with the effects; one line if there is one rival."""
    verdicts = [_verdict(claim, effects) for claim, effects in cells]
    said = f"**{first.said[0].upper()}{first.said[1:]}**"
    if len(first.contrasts) == 1:
        return [[said, *(": ".join([v, *map(effect_text, e)]) for v, (_, e) in zip(verdicts, cells, strict=True))]]
    return [[said, *verdicts], *(_against(place, first, cells) for place in range(len(first.contrasts)))]


def _against(place: int, first: Claim, cells: Sequence[tuple[Claim, Sequence[Effect]]]) -> list[str]:
    found = [next((e for e in effects if e.contrast == claim.contrasts[place]), None) for claim, effects in cells]
    contrast = first.contrasts[place]
    one, other = (find_scheme(arm_named(arm).scheme).sampler for arm in (contrast.one, contrast.other))
    rival = "itself without offloading" if one == other else label_of(contrast.other)
    several = len({contrast.one for contrast in first.contrasts}) > 1
    subject = f"{_ARMS.get(contrast.one) or label_of(contrast.one)} " if several else ""
    return [f"– {subject}against {rival}", *("–" if effect is None else effect_text(effect) for effect in found)]


def _verdict(claim: Claim, effects: Sequence[Effect]) -> str:
    verdict = verdict_of(claim, effects)
    return f"**{verdict}**" if verdict in {"shown", "contradicted"} else verdict
