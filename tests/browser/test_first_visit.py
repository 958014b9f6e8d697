"""The first visit: what this is, a plan in motion, one thing to do, and three examples."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.server import Server
from tests.support.visit import Visit


def test_a_first_visit_shows_a_plan_that_plays(visit: Visit, shots: Path) -> None:
    visit.open("")
    expect(visit.page.get_by_role("heading", name="Who should train, and which data should move?")).to_be_visible()
    expect(visit.page.locator("#time")).to_have_value("10")
    assert visit.state("state.plan.sampled.length") == 5
    expect(visit.page.get_by_role("heading", name="The plan")).to_be_visible()
    visit.page.screenshot(path=shots / "first.png")
    assert visit.accessibility() == []
    # One button is the main one, and it leads to where a network of one's own is loaded.
    main = visit.page.locator("main button.main:visible:not(#play)")
    expect(main).to_have_text("Plan for my own network")
    main.click()
    expect(visit.page.get_by_label("File")).to_be_focused()
    expect(visit.page.locator("#welcome")).to_be_hidden()
    visit.page.go_back()
    expect(visit.page.locator("#timebar")).to_be_visible()


@pytest.mark.parametrize("example", ["The paper's network", "A town's mesh", "Scarce budgets"])
def test_every_example_is_planned_and_something_flows(visit: Visit, example: str) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    visit.open("")
    expect(visit.page.locator("#timebar")).to_be_visible()
    before = visit.state("state.plan.objective")
    visit.button(example).click()
    expect(visit.page.locator("#welcome .spinner")).to_have_count(0)
    plan = visit.state("({ objective: state.plan.objective, steps: state.plan.steps, sampled: state.plan.sampled })")
    assert plan["objective"] != before
    assert 0 < len(plan["sampled"]) < visit.state("state.network.n") / 4
    assert sum(sum(step["transfers"]["datapoints"]) for step in plan["steps"]) > 0
    # The others can be looked at too.
    expect(visit.page.locator("#welcome")).to_be_visible()
    if example == "A town's mesh":
        assert visit.state("state.network.ids[0]") == "quay-01"
        assert visit.state("state.network.positions.x.length") == visit.state("state.network.n")
        first = visit.state("state.network.ids[state.plan.sampled[0]]")
        expect(visit.page.get_by_role("button", name=f"Look at device {first}")).to_be_visible()
        table = visit.page.get_by_role("region", name="Sampled devices")
        assert table.evaluate("(region) => region.scrollWidth <= region.clientWidth")
        moves = [len(step["transfers"]["source"]) for step in plan["steps"]]
        visit.slide(1 + moves.index(1))
        expect(visit.page.locator("#time-label")).to_contain_text("· 1 transfer, ")


def test_a_link_is_no_first_visit(browser: Browser, studio_server: Server) -> None:
    with Visit.to(browser, studio_server.url) as visit:
        visit.open("view=network")
        expect(visit.page.locator("#welcome")).to_be_hidden()
        address = visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")
        assert "view=network" in address
        visit.page.goto("about:blank")
        visit.open("")
        visit.button("Change the settings of this plan").click()
        expect(visit.page.locator("#plan-button")).to_be_visible()
