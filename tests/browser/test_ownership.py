"""What a person owns: kept plans, runs and validations, with names, laid over each other, deleted and brought back."""

import time
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.server import Server
from tests.support.visit import Visit

SMALL = "n=20&degree=5&size=3&period=2&horizon=4"


def keep(visit: Visit, name: str) -> None:
    visit.page.get_by_label("Keep this plan as").fill(name)
    visit.button("Keep").click()
    expect(visit.page.locator("#panel-plan .past").get_by_role("button", name=name, exact=True)).to_be_visible()


def test_plans_are_kept_set_side_by_side_renamed_and_brought_back(visit: Visit) -> None:
    visit.open(f"view=plan&{SMALL}&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    keep(visit, "three")
    first = visit.state("state.plan.objective")
    size = visit.page.locator("#panel-plan").get_by_label("Devices to sample S")
    size.fill("5")
    size.press("Tab")
    expect(visit.page.locator("#panel-plan .facts")).not_to_contain_text(f"{first:.6g}")
    keep(visit, "five")
    past = visit.page.locator("#panel-plan .past")
    # Laid over, they stand side by side: numbers, curves, drawings. Back takes it away again.
    past.get_by_role("button", name="Overlay three").click()
    beside = visit.page.locator("#inspector").get_by_role("region", name="Plans side by side")
    expect(beside).to_contain_text(f"{first:.6g}")
    lines = visit.page.get_by_role("img", name="Objective of the plans side by side").locator("polyline")
    expect(lines).to_have_count(2)
    expect(visit.page.locator("#inspector .minimap")).to_have_count(2)
    visit.page.go_back()
    expect(beside).to_have_count(0)
    # A kept plan is opened with the settings it was made with.
    past.get_by_role("button", name="three", exact=True).click()
    expect(size).to_have_value("3")
    expect(visit.page.locator("#panel-plan .facts")).to_contain_text(f"{first:.6g}")
    past.get_by_role("button", name="Rename five").click()
    box = visit.page.get_by_label("New name for five")
    box.fill("five of twenty")
    box.press("Enter")
    expect(past.get_by_role("button", name="five of twenty", exact=True)).to_be_visible()
    # It asks before it deletes, and brings back what was deleted.
    delete = past.get_by_role("button", name="Delete five of twenty")
    delete.click()
    expect(delete).to_have_text("really delete?")
    delete.click()
    expect(delete).to_have_count(0)
    visit.button("Undo").click()
    expect(delete).to_be_visible()
    # The browser keeps them, also under another address.
    visit.page.goto("about:blank")
    visit.open("view=plan&n=10&planned=1")
    expect(past.get_by_role("button", name="five of twenty", exact=True)).to_be_visible()
    expect(past.get_by_role("button", name="three", exact=True)).to_be_visible()


def test_runs_are_listed_laid_over_opened_and_forgotten(visit: Visit) -> None:
    visit.open(f"view=loop&{SMALL}")
    visit.button("Start the run").click()
    past = visit.page.locator("#panel-loop .past")
    expect(past.locator("li")).to_have_count(1)
    one = visit.state("state.loop.id")
    visit.page.get_by_label("Gradient norm observed at aggregation 1").fill("0.5")
    visit.button("Plan the next period").click()
    expect(visit.page.get_by_text("The horizon is reached.")).to_be_visible()
    visit.button("Start another").click()
    expect(past.locator("li")).to_have_count(2)
    two = visit.state("state.loop.id")
    assert two != one
    past.locator(f"[data-key=over-{one}]").click()
    lines = visit.page.get_by_role("img", name="Objective and gradient norm over").locator("polyline")
    expect(lines).to_have_count(4)
    # Back takes the lines away, and once more shows the run before as it was left.
    visit.page.go_back()
    expect(lines).to_have_count(2)
    visit.page.go_back()
    expect(visit.page.get_by_text("The horizon is reached.")).to_be_visible()
    assert visit.state("state.loop.id") == one
    past.locator(f"[data-key=rename-{two}]").click()
    box = past.locator("input")
    box.fill("second")
    box.press("Enter")
    past.get_by_role("button", name="second", exact=True).click()
    expect(visit.page.locator("#time-label")).to_contain_text("t = 2 of 2")
    assert visit.state("state.loop.id") == two
    for _ in range(2):
        past.get_by_role("button", name="Delete second").click()
    expect(past.locator("li")).to_have_count(1)


@pytest.fixture(scope="module")
def jobs(studio_server: Server) -> list[str]:
    """Three validations that have ended, the last of them with a name."""
    source = {"kind": "generator", "devices": 12, "mean_datapoints": 30, "link_probability": 0.4}
    body = {"source": source, "schemes": ["random"], "draws": 1, "sample_size": 3, "aggregations": 2}
    with studio_server.client() as client:
        more: list[dict[str, Any]] = [{"seeds": [1]}, {"seeds": [2]}, {"seeds": [3], "name": "third"}]
        places = [client.post("/v1/validations", json={**body, **one}).headers["location"] for one in more]
        for _ in range(900):
            if all(client.get(place).json()["state"] == "succeeded" for place in places):
                return [place.rpartition("/")[2] for place in places]
            time.sleep(0.1)
    raise AssertionError("not ended")


def test_validations_are_laid_over_renamed_and_deleted(visit: Visit, studio_server: Server, jobs: list[str]) -> None:
    visit.open(f"view=validate&n=12&job={jobs[0]}")
    lines = visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme").locator("polyline")
    expect(lines).to_have_count(1)
    for count, job in enumerate(jobs[1:], start=2):
        visit.page.locator(f".past [data-key=over-{job}]").click()
        expect(lines).to_have_count(count)
    figure = visit.page.locator("figure").filter(has_text="Accuracy after each aggregation")
    expect(figure.locator(".key").nth(2)).to_contain_text("random · third")
    dashes = lines.evaluate_all("(all) => all.map((one) => one.getAttribute('stroke-dasharray'))")
    assert len(set(dashes)) == 3
    # The link shows the same, and Back takes them away one by one.
    link = visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")
    visit.page.go_back()
    expect(lines).to_have_count(2)
    visit.page.goto("about:blank")
    visit.page.goto(link)
    expect(lines).to_have_count(3)
    # Another one is opened, and Back returns to the first.
    visit.page.locator(f".past [data-key=open-{jobs[1]}]").click()
    expect(visit.page.locator(f"#job-state[data-job={jobs[1]}]")).to_be_visible()
    visit.page.go_back()
    expect(visit.page.locator(f"#job-state[data-job={jobs[0]}]")).to_be_visible()
    visit.page.locator(f".past [data-key=rename-{jobs[2]}]").click()
    box = visit.page.locator(".past input")
    box.fill("the third")
    box.press("Enter")
    expect(figure.locator(".key").nth(2)).to_contain_text("random · the third")
    for _ in range(2):
        visit.page.locator(f".past [data-key=delete-{jobs[2]}]").click()
    expect(visit.page.locator(f".past [data-key=delete-{jobs[2]}]")).to_have_count(0)
    expect(lines).to_have_count(2)
    with studio_server.client() as client:
        assert client.get(f"/v1/validations/{jobs[2]}").status_code == 404


def test_a_data_set_that_no_worker_has_is_marked_with_its_reason(visit: Visit) -> None:
    visit.open("view=validate&n=12")
    box = visit.page.get_by_label("Data set")
    expect(box.locator("option[value=mnist]")).to_have_attribute("disabled", "")
    expect(box.locator("option[value=mnist]")).to_have_text("MNIST (not there)")
    expect(visit.page.get_by_text("MNIST, Fashion-MNIST: no worker has the files.")).to_be_visible()
    expect(box.locator("option[value=digits]")).not_to_have_attribute("disabled", "")
