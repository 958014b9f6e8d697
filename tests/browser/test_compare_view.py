"""Samplers side by side."""

import csv
from pathlib import Path

from playwright.sync_api import expect

from tests.support.visit import Visit


def test_samplers_are_compared_on_the_same_network(visit: Visit, shots: Path) -> None:
    visit.open("view=compare&n=60")
    expect(visit.page.get_by_label("heuristic", exact=True)).to_be_visible()
    for name in visit.state("state.samplers.map(({ name }) => name)"):
        visit.page.get_by_label(name, exact=True).set_checked(name in {"greedy", "heuristic", "random"})
    visit.page.locator("#compare-button").click()
    expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()
    rows = visit.state(
        """state.compared.rows.map(({ sampler, plan, covered, milliseconds }) => ({ sampler, covered, milliseconds,
        objective: plan.objective, terms: plan.sampling_term + plan.statistical_term, gap: plan.relative_gap }))"""
    )
    assert [row["sampler"] for row in rows] == ["greedy", "heuristic", "random"]
    for row in rows:
        assert abs(row["objective"] - row["terms"]) < 1e-9
        assert 0 < row["covered"] < 1
        assert row["gap"] <= 1e-6
    best = min(rows, key=lambda row: row["objective"])["sampler"]
    line = visit.page.get_by_role("row", name=best).first
    expect(line.locator("td").first).to_contain_text("★")
    visit.page.screenshot(path=shots / "compare.png")
    with visit.page.expect_download() as download:
        visit.button("Save as CSV").click()
    table = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert [float(row["objective"]) for row in table] == [row["objective"] for row in rows]
    visit.page.get_by_role("button", name="Show the plan of heuristic").click()
    expect(visit.page.locator("#timebar")).to_be_visible()
    assert visit.state("state.plan.objective") == rows[1]["objective"]
    visit.page.go_back()
    expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()


def test_a_link_to_a_comparison_makes_it(visit: Visit) -> None:
    visit.open("view=compare&n=30&compare=heuristic,greedy:coverage,random&size=2")
    for name in ("heuristic", "greedy:coverage", "random"):
        expect(visit.page.get_by_role("button", name=f"Show the plan of {name}")).to_be_visible()
        expect(visit.page.get_by_label(name, exact=True)).to_be_checked()


def test_plans_that_are_alike_share_the_star_or_have_none(visit: Visit) -> None:
    # All devices are sampled, so all plans are the same but for floating point.
    visit.open("view=compare&n=6&degree=3&size=6&stragglers=0&compare=greedy,heuristic,random")
    expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()
    expect(visit.page.get_by_text("★")).to_have_count(0)
    script = """(values) => import('/studio/core/ties.js').then(({ bestOf, ties }) =>
        values.map((one) => ties(one, bestOf(values, 'low'))))"""
    assert visit.page.evaluate(script, [0.3, 0.1 + 0.2, 0.4]) == [True, True, False]
