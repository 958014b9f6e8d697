"""What is shown of ours and what is not, sorted by the tests, so that nobody sorts it by hand."""

from collections.abc import Mapping, Sequence

from fedl_sim.reproduce.claims.catalogue import CLAIMS, HIDDEN, OURS, Claim
from fedl_sim.reproduce.claims.contrasts import Effect
from fedl_sim.reproduce.claims.sentences import sentence, verdict_of
from fedl_sim.reproduce.tables import Table

__all__ = ["in_short", "sentences_by_verdict"]

Evaluated = Mapping[str, Mapping[Claim, Sequence[Effect]]]

_NAMES = {"paper": "paper's setting", "fair": "fair setting", "tight": "tight budgets", "loose": "loose budgets"}
_SOURCES = {"table": "Table I", "figures": "Figs. 6 and 7", "resources": "Fig. 8"}
# The claims whose numbers stand on the first page. The others are about a data set alone, or about weaker rivals.
_MAIN = (
    "ours-aggregations",
    "ours-hidden-aggregations",
    "ours-datapoints",
    "ours-accuracy",
    "ours-above-all",
    "ours-resources",
)


def in_short(by_setting: Evaluated) -> Table:
    """Return where each claim about ours is shown, and first where it is not."""
    columns = ("not shown", "shown")
    rows = []
    for claim in CLAIMS:
        if claim.contrasts[0].one not in {OURS, HIDDEN} or claim.name.startswith("chance"):
            continue
        where: dict[str, list[str]] = {column: [] for column in columns}
        for setting, found in by_setting.items():
            if claim in found:
                verdict = verdict_of(found[claim])
                told = _NAMES[setting] if verdict in where else f"{_NAMES[setting]} ({verdict})"
                where["shown" if verdict == "shown" else "not shown"].append(told)
        rows.append({"claim": claim.said} | {column: ", ".join(where[column]) or "–" for column in columns})
    note = (
        "Table I: under scarce budgets in the paper's setting and in the fair one. Figs. 6 to 8: under tight budgets."
    )
    return Table("claims-in-short", "Ours: what is not shown, and what is", ("claim", *columns), tuple(rows), (note,))


def sentences_by_verdict(by_setting: Evaluated) -> dict[str, str]:
    """Return two lists with the sentences on the main claims: those that are not shown, and those that are."""
    lists: dict[str, list[str]] = {"claims-not-shown": [], "claims-shown": []}
    for claim in CLAIMS:
        if claim.name in _MAIN:
            for setting, found in by_setting.items():
                if effects := found.get(claim):
                    name = "claims-shown" if verdict_of(effects) == "shown" else "claims-not-shown"
                    place = f"{_SOURCES[claim.source]}, {_NAMES[setting]}"
                    lists[name].append(f"- {place}. {sentence(claim, effects)}\n")
    return {name: "".join(lines) for name, lines in lists.items()}
