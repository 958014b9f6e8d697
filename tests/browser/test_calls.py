"""The calls behind a view, copied and run for real; and links that reproduce a view."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.support.visit import Visit


def copied(visit: Visit, panel: Locator, language: str) -> str:
    """Open the snippets, press copy, and read the clipboard."""
    box = panel.locator("details.snippets")
    if box.get_attribute("open") is None:
        box.locator("summary").click()
    box.get_by_role("button", name=f"Copy {language}").click()
    expect(box.get_by_role("button", name="Copied").last).to_be_visible()
    text: str = visit.page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize("size", [10, 60])
def test_copied_calls_give_the_plan_on_show(visit: Visit, tmp_path: Path, size: int) -> None:
    visit.open(f"view=plan&n={size}&degree=4&size=2&planned=1&topology=small-world&labels=2")
    expect(visit.page.locator("#timebar")).to_be_visible()
    panel = visit.page.locator("#panel-plan")
    curl, python = copied(visit, panel, "curl"), copied(visit, panel, "Python")
    large = "-d @request.json" in curl
    assert large == (size == 60)
    if large:
        with visit.page.expect_download() as download:
            panel.get_by_role("button", name="Save request.json").click()
        download.value.save_as(tmp_path / "request.json")
    done = subprocess.run(["bash", "-c", curl], cwd=tmp_path, capture_output=True, text=True, check=True)
    answered = json.loads(done.stdout)
    assert answered["sampled"] == visit.state("state.plan.sampled")
    assert answered["objective"] == visit.state("state.plan.objective")
    done = subprocess.run([sys.executable, "-c", python], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f'"sampled": {json.dumps(answered["sampled"])}' in done.stdout


def test_every_view_says_its_calls(visit: Visit) -> None:
    visit.open("n=8&degree=3&size=2")
    for tab, panel, says in (
        ("Network", "network", '"dry_run":true'),
        ("Compare", "compare", "/v1/comparisons"),
        ("Closed loop", "loop", "/v1/runs"),
        ("Validate", "validate", "/v1/validations"),
    ):
        visit.tab(tab)
        text = copied(visit, visit.page.locator(f"#panel-{panel}"), "curl")
        assert says in text


def test_a_copied_link_reproduces_the_view(visit: Visit) -> None:
    visit.open("n=40")
    visit.page.get_by_label("Topology").select_option("small-world")
    visit.tab("Plan")
    visit.page.locator("#panel-plan").get_by_label("Steps T").fill("6")
    visit.plan()
    visit.slide(4)
    visit.page.locator("#inspector-body").get_by_label("Device", exact=True).fill("7")
    visit.page.locator("#inspector-body").get_by_label("Device", exact=True).press("Enter")
    visit.button("Copy link").click()
    link: str = visit.page.evaluate("navigator.clipboard.readText()")
    before = visit.state("[state.plan.objective, state.settings]")
    label = visit.page.locator("#time-label").inner_text()
    visit.page.goto("about:blank")
    visit.page.goto(link)
    expect(visit.page.locator("#time-label")).to_have_text(label)
    assert visit.state("[state.plan.objective, state.settings]") == before
    expect(visit.page.locator("#inspector-body").get_by_label("Device", exact=True)).to_have_value("7")


def test_nonsense_in_a_link_is_taken_as_nothing(visit: Visit) -> None:
    visit.open("n=abc&topology=constructor&view=__proto__&size=-4&seed=9e99&toString=1&step=1e9")
    assert visit.state("[state.settings.n, state.settings.topology, state.settings.view, state.settings.size]") == [
        100,
        "geometric",
        "network",
        1,
    ]
    visit.page.goto("about:blank")
    visit.page.goto(f"{visit.url}/#given=AAAA")
    expect(visit.page.get_by_role("alert").first).to_be_visible()
