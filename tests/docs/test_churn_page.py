"""docs/churn.md shows the committed results of the churn study, and its sentences say what these are."""

from collections.abc import Iterable

import numpy as np
import pytest

from fedl_sim.reproduce.document import filled
from tests.support.committed import Row, prose
from tests.support.committed import rows as rows_of
from tests.support.documents import ROOT

PAGE = ROOT / "docs" / "churn.md"
RANDOM, PATCH, FIXED, AFRESH = (
    "all drawn anew at random",
    "lost ones replaced at random",
    "fixed set",
    "all chosen anew by the sampler",
)
AGAIN = "healing, other random numbers (A/A)"
FOR_GOOD = "10% loss, nobody comes back"


def rows(budget: str, name: str = "churn") -> list[Row]:
    return rows_of(f"churn-{budget}/{name}")


def row(budget: str, condition: str, policy: str) -> Row:
    (found,) = (one for one in rows(budget) if (one["condition"], one["policy"]) == (condition, policy))
    return found


def points(one: Row, column: str = "healing's gain") -> float:
    return 100 * float(one[column].split()[0])


def p(one: Row, column: str = "p") -> str:
    return f"p = {one[column]}".replace("0.", ".")


def least_p(of: Iterable[Row], column: str = "p") -> str:
    return f"p ≥ {min(float(one[column]) for one in of)}".replace("0.", ".")


def lost(budget: str, policy: str) -> list[Row]:
    return [one for one in rows(budget) if one["policy"] == policy]


def short(value: float) -> str:
    return f"{value:.1f}".removeprefix("0") if value < 1 else f"{value:.1f}"


def test_the_page_shows_the_tables() -> None:
    assert filled(PAGE) == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("budget", ["loose", "tight"])
def test_a_table_is_that_of_its_runs(budget: str) -> None:
    names = {
        "fixed": FIXED, "redraw": RANDOM, "patch": PATCH, "heal": "healing", "afresh": AFRESH, "heal (A/A)": AGAIN
    }  # fmt: skip
    for one in rows(budget):
        mine = [
            float(run["accuracy"])
            for run in rows(budget, "runs")
            if run["condition"] == one["condition"] and names[run["policy"]] == one["policy"].replace("any", "healing")
        ]
        assert len(mine) == 12
        assert float(one["final accuracy"].split()[0]) == pytest.approx(np.mean(mine), abs=6e-4)


def test_sentences_about_loose_budgets() -> None:
    page, anew = prose(PAGE), lost("loose", RANDOM)
    gains = [points(one) for one in anew]
    assert f"under every condition: {min(gains):.1f} to {max(gains):.1f} points" in page
    others = sorted(float(one["p"]) for one in anew if one["condition"] != FOR_GOOD)
    assert (
        f"({p(row('loose', FOR_GOOD, RANDOM))}); otherwise p is between {others[0]} and {others[-1]}".replace("0.", ".")
        in page
    )
    fixed, gone = row("loose", "20% loss", FIXED), row("loose", FOR_GOOD, FIXED)
    assert f"at 20 % loss it ends {points(fixed):.1f} points lower, with {p(fixed)}" in page
    assert f"If nobody comes back, it ends {points(gone):.1f} points lower ({p(gone)})" in page
    patched = [points(one) for one in lost("loose", PATCH)]
    assert f"they end {short(min(patched))} to {short(max(patched))} points lower, with p = 1" in page
    assert {one["p"] for one in lost("loose", PATCH)} == {"1"}
    assert f"replacing the lost ones ({least_p(lost('loose', AFRESH))})" in page
    calm, healed = (
        float(row("loose", *one)["final accuracy"].split()[0]) for one in (("no loss", "any"), ("20% loss", "healing"))
    )
    assert f"healing ends {100 * (calm - healed):.1f} points below" in page
    more = [-points(one, "healing's difference") / 100 for one in anew]
    assert f"takes {min(more):.1f} to {max(more):.1f} more than healing" in page
    compared = [one for one in rows("loose") if one["p"] and one["policy"] != AGAIN]
    by_chance = max(abs(points(one)) for one in lost("loose", AGAIN))
    assert f"healing ends at most {short(by_chance)} points away (A/A rows)" in page
    assert f"no difference is shown ({least_p(compared, 'p (aggregations)')})" in page


def test_sentences_about_tight_budgets() -> None:
    page = prose(PAGE)
    assert {run["moved"] for run in rows("tight", "runs")} == {"0"}
    worst = [row("tight", "20% loss", one) for one in (FIXED, PATCH)]
    told = f"a fixed set ends {points(worst[0]):.1f} points lower than healing ({p(worst[0])}), and random replacements"
    assert f"{told} {points(worst[1]):.1f} points ({p(worst[1])})" in page
    gone = [row("tight", FOR_GOOD, one) for one in (FIXED, PATCH)]
    both = " and ".join(f"{points(one):.1f} points ({p(one)})" for one in gone)
    assert f"after a loss of 10 %, it is {both}" in page
    mild = [row("tight", f"{share}% loss", one) for share in (5, 10) for one in (FIXED, PATCH)]
    gains = [points(one) for one in mild]
    assert f"healing ends {min(gains):.1f} to {max(gains):.1f} points above both" in page
    assert f"after the adjustment ({least_p(mild)})" in page
    assert f"is not shown to differ from healing ({least_p(lost('tight', RANDOM))})" in page
    ten, twenty = (row("tight", f"{share}% loss", AFRESH) for share in (10, 20))
    assert f"ends {-points(ten):.1f} points above replacing the lost ones at 10 % loss ({p(ten)})" in page
    assert float(ten["p"]) < 0.05 <= float(twenty["p"])
    assert f"At 20 % loss it ends {-points(twenty):.1f} points above, which is not shown" in page
    assert f"after the adjustment ({p(twenty)})" in page
    calm, healed = (
        float(row("tight", *one)["final accuracy"].split()[0]) for one in (("no loss", "any"), ("20% loss", "healing"))
    )
    assert f"than without any loss: {100 * (healed - calm):.1f} points" in page
