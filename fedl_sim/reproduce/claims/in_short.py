"""Ours against its rivals on one page: what is not shown, sorted by the tests, and then the main numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

from fedl_sim.reproduce.claims.catalogue import HIDDEN, OURS, OURS_CLAIMS
from fedl_sim.reproduce.claims.contrasts import Effect
from fedl_sim.reproduce.claims.effects import Evaluated
from fedl_sim.reproduce.claims.sentences import NOT_RUN, name_in_prose
from fedl_sim.reproduce.compared import AGAIN
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
# With equal batches a scheme's datapoints are its aggregations in another unit.
_SAME = {("datapoints", "table", "fair")}
_CHANCE = "itself with other random numbers (A/A)"
_ARMS = {OURS: "Ours", HIDDEN: "Ours without label counts"}
# The lists, the worst first. What is shown stands in the table alone.
_LISTS = {
    "contradicted": "Ours is shown to be **worse** than these rivals",
    NOT_RUN: "Ours has **not been run** against these rivals",
    "no test": "Ours has run on **too few networks** for a test against these rivals",
    "indicated": "Ours is better than these rivals, but on **too few networks** to call it shown",
    "not shown": "Ours is **not shown** to be better than these rivals (in brackets the mean, where ours is worse)",
}
_NOTE = (
    "The numbers say by how much ours is better. Square brackets have the 95 % interval. Bold: shown, p < 0.05 over "
    "five seeds or more, by Holm's method over the five rivals, four for accuracy; FedL on all nodes stands alone. "
    "The A/A row shows what chance alone makes. Aggregations are those of Table I, with scarce budgets in the paper's "
    "setting and in the fair one. Accuracy is that of Figs. 6 and 7, with tight budgets."
)


@dataclass(frozen=True)
class _Comparison:
    """Ours against one rival on all data sets together."""

    arm: str
    rival: str
    measure: str
    setting: str
    effect: Effect | None

    @property
    def place(self) -> str:
        return f"{self.measure}, {self.setting}"

    @property
    def verdict(self) -> str:
        return NOT_RUN if self.effect is None else self.effect.verdict

    @property
    def told(self) -> str:
        """The rival, with the number where ours is worse on average."""
        if self.effect is None or self.effect.mean >= 0:
            return self.rival
        unit = "points" if self.effect.contrast.measure == "accuracy" else "%"
        return f"{self.rival} ({self.effect.mean:+.1f} {unit})"


def in_short(found: Evaluated) -> str:
    """Return lists of what is not shown of ours, then a table with the numbers, as Markdown."""
    all_of_them = list(_comparisons(found))
    return "".join(f"{text}\n" for text in (*_lists(all_of_them), _table(all_of_them).markdown()))


def _lists(comparisons: list[_Comparison]) -> Iterator[str]:
    """Yield lists about ours with label counts; those without have them in the table alone, as plain numbers."""
    for verdict, heading in _LISTS.items():
        lines: dict[str, list[str]] = {}
        for one in comparisons:
            if (one.arm, one.verdict) == (OURS, verdict) and one.rival != _CHANCE:
                lines.setdefault(one.place, []).append(one.told)
        if lines:
            yield f"{heading}:\n"
            yield "".join(f"- {place}: {'; '.join(rivals)}.\n" for place, rivals in lines.items())


def _table(comparisons: list[_Comparison]) -> Table:
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for one in comparisons:
        if one.measure in _UNITS:
            column = f"{one.place} ({_UNITS[one.measure]})"
            rows.setdefault(one.arm, {}).setdefault(one.rival, {})[column] = _cell(one.effect)
    wanted = [f"{measure}, {setting} ({unit})" for measure, unit in _UNITS.items() for setting in _SETTINGS.values()]
    used = [column for column in wanted if any(column in row for mine in rows.values() for row in mine.values())]
    filled = []
    for arm, mine in rows.items():
        filled.append({"rival": f"**{_ARMS[arm]} against**"} | dict.fromkeys(used, ""))
        filled += [{"rival": rival} | {column: row.get(column, "") for column in used} for rival, row in mine.items()]
    return Table("claims-in-short", "Ours against its rivals", ("rival", *used), tuple(filled), (_NOTE,))


def _comparisons(found: Evaluated) -> Iterator[_Comparison]:
    for arm in _ARMS:
        for claim in OURS_CLAIMS:
            for contrast in claim.contrasts:
                kind = contrast.measure, claim.source
                # What offloading adds to ours is no comparison with a rival.
                if contrast.one != arm or contrast.data_set is not None or claim.name == "ours-offloading-speeds-up":
                    continue
                for setting, name in _SETTINGS.items():
                    if claim in found[setting] and (*kind, setting) not in _SAME:
                        effect = next((e for e in found[setting][claim] if e.contrast == contrast), None)
                        rival = _CHANCE if contrast.other == AGAIN else name_in_prose(contrast.other)
                        yield _Comparison(arm, rival, _MEASURES[kind], name, effect)


def _cell(effect: Effect | None) -> str:
    if effect is None:
        return "–"
    text = f"**{effect.mean:+.1f}**" if effect.verdict == "shown" else f"{effect.mean:+.1f}"
    return f"{text} [{effect.low:+.1f}, {effect.high:+.1f}]" if effect.seeds > 1 else text
