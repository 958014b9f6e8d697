"""Ours against its rivals on one page: what is not shown, sorted by the tests, and then the main numbers."""

from collections.abc import Iterator

from fedl_sim.reproduce.claims.catalogue import CLAIMS, HIDDEN, OURS
from fedl_sim.reproduce.claims.contrasts import Effect
from fedl_sim.reproduce.claims.evaluation import Evaluated
from fedl_sim.reproduce.claims.sentences import name_in_prose
from fedl_sim.reproduce.tables import Table

__all__ = ["in_short"]

_SETTINGS = {"fair": "fair setting", "loose": "loose budgets", "tight": "tight budgets", "paper": "paper's setting"}
_AGGREGATIONS, _ACCURACY = "Fewer aggregations", "Higher accuracy"
_MEASURES = {
    ("aggregations", "table"): _AGGREGATIONS,
    ("datapoints", "table"): "Fewer datapoints (Table I)",
    ("accuracy", "figures"): _ACCURACY,
    ("datapoints", "resources"): "Fewer datapoints (Fig. 8)",
}
# What the table has, and in which unit.
_UNITS = {_AGGREGATIONS: "%", _ACCURACY: "points"}
# What the verdicts of the first list say of ours, the worst first; what is shown stands in the table alone.
_VERDICTS = {
    "contradicted": "Ours is shown to be **worse** than these rivals:",
    "not run": "These comparisons have **not been run**:",
    "no test": "These comparisons have **too few networks** for a test:",
    "indicated": "Against these rivals ours is better, but with **too few networks** to call it shown:",
    "not shown": "Ours is **not shown** to be better than these rivals:",
}
_NOTE = (
    "The numbers say by how much ours is better. Square brackets have the 95 % interval. Bold: shown, p < 0.05 by "
    "Holm's method over the rivals of a claim. Aggregations are those of Table I, with scarce budgets in the paper's "
    "setting and in the fair one. Accuracy is that of Figs. 6 and 7, with tight budgets."
)


def in_short(found: Evaluated) -> str:
    """Return lists of what is not shown of ours, then a table with the numbers, as Markdown."""
    return "".join(f"{text}\n" for text in (*_lists(found), _table(found).markdown()))


def _lists(found: Evaluated) -> Iterator[str]:
    for verdict, heading in _VERDICTS.items():
        lines: dict[str, list[str]] = {}
        for measure, setting, rival, effect in _comparisons(found):
            if (effect.verdict if effect else "not run") == verdict:
                lines.setdefault(f"{measure}, {setting}", []).append(rival)
        if lines:
            yield f"{heading}\n"
            yield "".join(f"- {place}: {'; '.join(rivals)}.\n" for place, rivals in lines.items())


def _table(found: Evaluated) -> Table:
    rows: dict[str, dict[str, str]] = {}
    columns = [f"{measure}, {setting} ({unit})" for measure, unit in _UNITS.items() for setting in _SETTINGS.values()]
    for measure, setting, rival, effect in _comparisons(found):
        if measure in _UNITS:
            rows.setdefault(rival, {})[f"{measure}, {setting} ({_UNITS[measure]})"] = _cell(effect)
    used = [column for column in columns if any(column in row for row in rows.values())]
    filled = tuple({"rival": rival} | {column: row.get(column, "") for column in used} for rival, row in rows.items())
    return Table("claims-in-short", "Ours against its rivals", ("rival", *used), filled, (_NOTE,))


def _comparisons(found: Evaluated) -> Iterator[tuple[str, str, str, Effect | None]]:
    """Yield every comparison of ours on all data sets together: measure, setting, rival, effect if it was run."""
    about_ours = [claim for claim in CLAIMS if not claim.name.startswith("chance")]
    for arm, suffix in ((OURS, ""), (HIDDEN, " (ours without label counts)")):
        for claim in about_ours:
            for contrast in claim.contrasts:
                if contrast.one == arm and contrast.data_set is None:
                    measure, rival = _MEASURES[contrast.measure, claim.source], name_in_prose(contrast.other) + suffix
                    for setting, place in _SETTINGS.items():
                        if (effects := found[setting].get(claim)) is not None:
                            effect = next((e for e in effects if e.contrast == contrast), None)
                            yield measure, place, rival, effect


def _cell(effect: Effect | None) -> str:
    if effect is None:
        return "–"
    text = f"**{effect.mean:+.1f}**" if effect.verdict == "shown" else f"{effect.mean:+.1f}"
    return f"{text} [{effect.low:+.1f}, {effect.high:+.1f}]" if effect.seeds > 1 else text
