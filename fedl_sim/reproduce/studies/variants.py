"""Studies of one shape: variants of a method on the same networks, each compared with another variant.

Every row of the table has the final accuracy, the difference to the variant that it is compared with (interval, and p
by Holm's method over the comparisons of a group that ask the same question), and what was sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedl_sim.paired import Clustered, clustered, holm
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import Arm, cells_of
from fedl_sim.reproduce.figures.differences import difference_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import final, runs_by_seed, spread
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import NOT_RUN, Table

__all__ = ["Group", "Variant", "groups_sending_once", "variants_study"]

# A datapoint on the wire: a byte for each pixel, and one for the label.
_BYTES = {"digits": 65, "mnist": 785, "fashion-mnist": 785}

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Variant:
    """An arm, and what it is compared with.

    Attributes:
        arm: the scheme with its settings.
        against: the name of the arm that it is compared with; None if it is only shown.
        question: what the comparison is to answer. Holm's method adjusts p over those with the same question.
    """

    arm: Arm
    against: str | None = None
    question: str = "rivals"


@dataclass(frozen=True)
class Group:
    """Variants on the networks of one template."""

    label: str
    template: Cell
    variants: tuple[Variant, ...]

    def cells(self, scope: Scope) -> tuple[Cell, ...]:
        """Return all runs, seed after seed."""
        arms = [variant.arm for variant in self.variants]
        return cells_of(self.template, schemes=arms, seeds=scope.seeds, draws=scope.draws)


def groups_sending_once(template: Cell, variants: tuple[Variant, ...], *, quick: bool) -> list[Group]:
    """Return digits under loose budgets and MNIST under tight ones, as devices that follow orders send."""
    groups = []
    for data_set, budget in (("digits", "loose"),) if quick else (("digits", "loose"), ("mnist", "tight")):
        base = template.sized(data_set, 40 if quick else 100, 5)
        network = replace(base.realisation, budget=budget)
        once = replace(base, realisation=network, run=replace(base.run, transfer="send_once"))
        groups.append(Group(f"{data_set}, {budget} budgets", once, variants))
    return groups


def variants_study(name: str, title: str, groups: Sequence[Group], scope: Scope, notes: tuple[str, ...]) -> Study:
    """Return the study of these groups."""
    questions = dict.fromkeys(v.question for group in groups for v in group.variants if v.against is not None)
    places = {seed: place for place, seed in enumerate(scope.seeds)}
    cells = sorted((cell for group in groups for cell in group.cells(scope)), key=lambda cell: places[cell.seed])

    def report(results: Results) -> Report:
        found = [_differences(group, scope, results) for group in groups]
        rows = [row for group, one in zip(groups, found, strict=True) for row in _rows(group, scope, results, one)]
        about = (
            "Difference: points of final accuracy, this row minus the one it is compared with, paired by network, with "
            "the 95 % interval by Student's t; p by Holm's method over the rows of a group that ask the same question "
            f"({', '.join(questions)}). Kept: datapoints that the receiver did not have before. Bytes: one for each "
            "pixel and one for the label. Cost: relative energy of processing, and of sending; the boards' joules are "
            "not known."
        )
        table = Table(
            name, f"{title}, {len(scope.seeds)} networks a group", tuple(rows[0]), tuple(rows), (about, *notes)
        )
        return Report((table,), difference_figures(rows_of((table,))))

    return Study(name, tuple(cells), report)


def _differences(group: Group, scope: Scope, results: Results) -> dict[str, tuple[Clustered, float]]:
    """Return each compared variant's difference in points, and p adjusted over its question."""
    cells = group.cells(scope)
    found: dict[str, Clustered] = {}
    for variant in group.variants:
        if variant.against is None:
            continue
        mine, other = (runs_by_seed(results, cells, name) for name in (variant.arm.name, variant.against))
        values = {
            seed: [100 * float((final({seed: mine[seed]}) - final({seed: other[seed]}))[0])]
            for seed in mine
            if seed in other
        }
        if values:
            found[variant.arm.name] = clustered(values)
    adjusted: dict[str, float] = {}
    for question in {variant.question for variant in group.variants}:
        names = [v.arm.name for v in group.variants if v.question == question and v.arm.name in found]
        adjusted |= zip(names, holm([found[name].p_value for name in names]), strict=True)
    return {name: (one, adjusted[name]) for name, one in found.items()}


def _rows(group: Group, scope: Scope, results: Results, found: dict[str, tuple[Clustered, float]]) -> list[Row]:
    labels = {variant.arm.name: variant.arm.label for variant in group.variants}
    cells = group.cells(scope)
    rows = []
    for variant in group.variants:
        runs = runs_by_seed(results, cells, variant.arm.name)
        moved = float(final(runs, "moved").mean()) if runs else None
        row: Row = {
            "group": group.label,
            "variant": variant.arm.label,
            "final accuracy": spread(final(runs)).text(),
            "compared with": None if variant.against is None else labels[variant.against],
            "difference": None,
            "p": None,
            "datapoints sent": NOT_RUN if moved is None else f"{moved:.0f}",
            "kB sent": NOT_RUN if moved is None else f"{moved * _BYTES[group.template.data_set] / 1000:.0f}",
            "kept": f"{final(runs, 'useful').mean():.0f}" if runs else NOT_RUN,
            "cost": f"{final(runs, 'cost').mean():.0f}" if runs else NOT_RUN,
        }
        if variant.arm.name in found:
            one, p = found[variant.arm.name]
            row |= {"difference": f"{one.mean:+.1f} [{one.low:+.1f}, {one.high:+.1f}]", "p": f"{p:.2g}"}
        rows.append(row)
    return rows
