"""Comparisons: sorted, held against a baseline, over seeds, sizes and energy."""

import csv
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.support.server import Server
from tests.support.visit import Visit

TABLE = "#result-compare .wide-table"
DONE = "#result-compare:not(:has(.spinner)) .wide-table"


def column(visit: Visit, name: str) -> list[str]:
    """The cells under a heading, from top to bottom."""
    heads = visit.page.locator(f"{TABLE} thead th").all_inner_texts()
    place = next(i for i, text in enumerate(heads) if text.split(" ↑")[0].split(" ↓")[0] == name)
    return [row.locator("th, td").nth(place).inner_text() for row in visit.page.locator(f"{TABLE} tbody tr").all()]


def answer(visit: Visit) -> dict[str, Any]:
    found: dict[str, Any] = visit.state("state.compared.answer")
    return found


def test_samplers_are_compared_sorted_and_taken_along(visit: Visit, shots: Path) -> None:
    visit.open("view=compare&n=60")
    expect(visit.page.get_by_label("heuristic", exact=True)).to_be_visible()
    for name in visit.state("state.samplers.map(({ name }) => name)"):
        visit.page.get_by_label(name, exact=True).set_checked(name in {"greedy", "heuristic", "random"})
    visit.page.locator("#compare-button").click()
    expect(visit.page.locator(DONE)).to_be_visible()
    groups = answer(visit)["groups"]
    assert [one["sampler"] for one in groups] == ["greedy", "heuristic", "random"]
    objectives = {one["sampler"]: one["objective"]["mean"] for one in groups}
    best = min(objectives, key=lambda name: objectives[name])
    # The lowest objective is on top until another order is asked for, by mouse or keyboard.
    assert column(visit, "sampler") == sorted(objectives, key=lambda name: objectives[name])
    assert "★" in column(visit, "rank")[0]
    expect(visit.page.get_by_text("★")).to_have_count(1)
    head = visit.page.get_by_role("columnheader", name="objective")
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").focus()
    visit.page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(head.get_by_role("button")).to_be_focused()
    assert column(visit, "sampler")[-1] == best
    # Until another baseline is chosen, it is the sampler of the plan.
    expect(visit.page.get_by_label("Baseline")).to_have_value("greedy")
    # Random sets differ from seed to seed, a greedy one does not.
    spread = dict(zip(column(visit, "sampler"), column(visit, "objective"), strict=True))
    assert ("±" in spread["random"], "±" in spread["greedy"]) == (True, False)
    # Every other sampler can be the baseline.
    visit.page.get_by_label("Baseline").select_option("random")
    against = dict(zip(column(visit, "sampler"), column(visit, "against baseline"), strict=True))
    assert against["random"] == "baseline"
    share = (objectives["greedy"] - objectives["random"]) / objectives["random"]
    assert abs(float(against["greedy"].split()[0].replace("−", "-")) - 100 * share) < 0.06
    assert ("±" in against["greedy"], "±" in against["heuristic"]) == (True, True)
    visit.page.go_back()
    expect(visit.page.get_by_label("Baseline")).to_have_value("greedy")
    visit.page.screenshot(path=shots / "compare.png")
    with visit.page.expect_download() as download:
        visit.button("Save as CSV").click()
    table = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert [float(row["objective"]) for row in table] == [row["objective"] for row in answer(visit)["rows"]]
    assert len(table) == 15
    visit.page.get_by_role("button", name="Show the plan of heuristic").click()
    expect(visit.page.locator("#timebar")).to_be_visible()
    assert abs(visit.state("state.plan.objective") - objectives["heuristic"]) < 1e-9
    visit.page.go_back()
    expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()


PAIRED = """(answer) => import('/studio/core/comparison.js').then(({ baselineOf, difference, groupsOf }) => {
    const groups = groupsOf(answer);
    return groups.map((one) => difference(one, baselineOf(groups, 'random', one), answer.rows)); })"""


def test_differences_are_paired_by_seed_as_the_service_pairs_them(visit: Visit, studio_server: Server) -> None:
    visit.open("view=compare&n=40&compare=greedy,random,local_search&seeds=7&counts=3,4&baseline=random")
    expect(visit.page.locator(DONE)).to_be_visible()
    asked = visit.page.evaluate(
        "Promise.all(['core/comparison', 'ui/store'].map((m) => import(`/studio/${m}.js`)))"
        ".then(([{ comparisonRequest }, { state }]) => comparisonRequest(state))"
    )
    body = {**asked, "baseline": {"sampler": "random"}}
    told = httpx.post(f"{studio_server.url}/v1/comparisons", json=body, timeout=60).json()["groups"]
    computed = visit.page.evaluate(PAIRED, answer(visit))
    for group, found in zip(told, computed, strict=True):
        paired = group["difference"]
        assert found["pairs"] == paired["pairs"] == 7
        for name, value in (("mean", "value"), ("low", "low"), ("high", "high")):
            assert found[value] == pytest.approx(paired["objective"][name], rel=1e-6, abs=1e-12)
        assert found["tied"] == paired["tied"]
    # With one seed a difference has no interval, and nothing is called chance.
    quantiles = visit.page.evaluate(
        "import('/studio/core/student.js').then(({ quantile }) => [1, 2, 3, 4, 30, 99].map(quantile))"
    )
    assert quantiles == pytest.approx([12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.0422725, 1.9842170], rel=1e-7)


def test_the_baseline_is_the_sampler_of_the_plan_where_another_comes_first(visit: Visit) -> None:
    visit.open("view=compare&n=30&compare=gcn_branch,greedy&size=2&seeds=2")
    expect(visit.page.locator(DONE)).to_be_visible()
    expect(visit.page.get_by_label("Baseline")).to_have_value("greedy")
    assert dict(zip(column(visit, "sampler"), column(visit, "against baseline"), strict=True))["greedy"] == "baseline"


def test_a_link_to_a_comparison_makes_it_and_it_follows_its_settings(visit: Visit) -> None:
    visit.open("view=compare&n=30&compare=heuristic,greedy:coverage,random&size=2&seeds=2")
    for name in ("heuristic", "greedy:coverage", "random"):
        expect(visit.page.get_by_role("button", name=f"Show the plan of {name}")).to_be_visible()
        expect(visit.page.get_by_label(name, exact=True)).to_be_checked()
    visit.page.get_by_label("random", exact=True).uncheck()
    expect(visit.page.locator(f"{DONE} tbody tr")).to_have_count(2)
    visit.page.go_back()
    expect(visit.page.locator(f"{DONE} tbody tr")).to_have_count(3)
    expect(visit.page.get_by_label("random", exact=True)).to_be_checked()
    budgets = visit.page.get_by_label("Budgets times")
    budgets.fill("1,0.5")
    budgets.press("Tab")
    expect(visit.page.locator(f"{DONE} tbody tr")).to_have_count(6)
    assert set(column(visit, "budgets ×")) == {"1", "0.5"}
    # The plan view has the budgets as they are, so it cannot show the plans of others.
    expect(visit.page.get_by_role("button", name="Show the plan of")).to_have_count(3)


def test_plans_that_are_alike_share_a_rank_and_none_is_the_best(visit: Visit) -> None:
    # All devices are sampled, so all plans are the same but for floating point.
    visit.open("view=compare&n=6&degree=3&size=6&stragglers=0&compare=greedy,heuristic,random")
    expect(visit.page.locator(DONE)).to_be_visible()
    assert column(visit, "rank") == ["1 ="] * 3
    assert sorted(column(visit, "against baseline")) == ["baseline", "tied", "tied"]
    expect(visit.page.get_by_text("★")).to_have_count(0)


def lines(figure: Locator) -> dict[str, list[list[float]]]:
    """The places of each line's points, by the name of the line."""
    script = (
        """(lines) => lines.map((line) => [line.querySelector('title').textContent, line.getAttribute('points')])"""
    )
    found = figure.locator("polyline").evaluate_all(script)
    return {name: [[float(place) for place in point.split(",")] for point in text.split()] for name, text in found}


def test_how_many_devices_is_answered_by_a_curve_above_its_bound(visit: Visit, shots: Path) -> None:
    visit.open("view=compare&n=24&compare=greedy,random&seeds=3")
    expect(visit.page.locator(DONE)).to_be_visible()
    visit.button("How many devices do I need?").click()
    figure = visit.page.locator("figure").filter(has_text="How many devices do I need?")
    expect(figure).to_contain_text("With greedy,")
    expect(figure).to_contain_text("set_bound")
    sizes = visit.state("state.compared.answer.groups.map((one) => one.sample_size)")
    assert sorted(set(sizes)) == [1, 2, 3, 4, 5, 6, 8, 10, 12]
    drawn = lines(figure)
    bound = drawn["no choice is below"]
    assert len(bound) == 9
    # Higher on the screen is a smaller y.
    for name in ("greedy", "random"):
        assert all(y <= low + 0.11 for (_, y), (_, low) in zip(drawn[name], bound, strict=True))
    visit.page.screenshot(path=shots / "how-many.png")
    visit.page.go_back()
    expect(figure).to_have_count(0)


def test_a_fleet_that_tells_joules_has_a_picture_of_energy(visit: Visit) -> None:
    devices = [
        {"id": f"d{i}", "datapoints": 100 + 40 * i, "samples_per_second": 40, "airtime_seconds": 6}
        | {"joules_per_sample": 0.02, "storage_datapoints": 4000}
        for i in range(8)
    ]
    links = [
        {"from": f"d{i}", "to": f"d{(i + step) % 8}", "mbps": 6.0, "similarity": 0.3, "joules_per_megabyte": 0.4}
        for i in range(8)
        for step in (1, 3)
    ]
    fleet = {"step_seconds": 60, "datapoint_bytes": 3136, "devices": devices, "links": links}
    visit.open("view=network&n=10")
    visit.drop({"fleet.json": json.dumps(fleet).encode()})
    expect(visit.page.get_by_text("fleet.json is shown.")).to_be_visible()
    visit.tab("Compare")
    for name in visit.state("state.samplers.map(({ name }) => name)"):
        visit.page.get_by_label(name, exact=True).set_checked(name in {"greedy", "random"})
    visit.page.locator("#compare-button").click()
    figure = visit.page.locator("figure").filter(has_text="Objective against joules")
    expect(figure.locator("svg circle").first).to_be_visible()
    assert all(float(text.split()[0]) > 0 for text in column(visit, "joules"))
    # Filled points are those that the service calls undominated.
    front = sum(one["pareto"] for one in answer(visit)["groups"])
    assert figure.locator(".chart circle[r='6']").count() == front > 0
