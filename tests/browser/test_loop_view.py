"""The closed loop, by hand."""

import json
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.support.server import Server
from tests.support.visit import Visit


def test_a_run_is_stepped_through_and_its_link_shows_it_again(visit: Visit, studio_server: Server, shots: Path) -> None:
    visit.open("view=loop&n=40&horizon=12&period=4&size=4")
    visit.button("Start the run").click()
    expect(visit.page.locator("#time-label")).to_contain_text("t = 4 of 4")
    for k, norm in ((1, "0.7"), (2, "0.4")):
        box = visit.page.get_by_label(f"Gradient norm observed at aggregation {k}")
        # What was not measured is not filled in.
        expect(box).to_have_value("")
        box.fill(norm)
        if k == 1:
            visit.button("Plan the next period").click()
        else:
            box.press("Enter")
        expect(visit.page.locator("#time-label")).to_contain_text(f"of {4 * (k + 1)}")
    expect(visit.page.get_by_text("The horizon is reached.")).to_be_visible()
    steps = visit.state("state.loop.plan.steps.map(({ step, gradient_norm }) => [step, gradient_norm])")
    assert [step for step, _ in steps] == list(range(1, 13))
    # Sec. III-C: the next period starts from the norm just told, shrinking as the last one did.
    decay = (1.0 / 0.7) ** (1 / 4)
    assert abs(steps[4][1] - 0.7 / decay) < 1e-9
    run = visit.state("state.loop.id")
    kept = httpx.get(f"{studio_server.url}/v1/runs/{run}/aggregations/2").json()
    assert visit.state("state.loop.periods[2].objective") == kept["objective"]
    visit.slide(7)
    visit.page.screenshot(path=shots / "loop.png")
    link = visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")
    visit.page.goto("about:blank")
    visit.page.goto(link)
    expect(visit.page.locator("#time-label")).to_contain_text("of 12")
    assert visit.state("state.loop.id") == run
    # Forgotten by the service, the same is done again.
    visit.allowed = "404"
    visit.button("Forget this run").click()
    expect(visit.page.get_by_text("No run yet")).to_be_visible()
    visit.page.goto("about:blank")
    visit.page.goto(link)
    expect(visit.page.get_by_text("The horizon is reached.")).to_be_visible()
    assert visit.state("state.loop.id") != run
    again = visit.state("state.loop.plan.steps.map(({ objective }) => objective)")
    assert again[-1] == kept["steps"][-1]["objective"]


def test_a_run_loses_a_device_and_goes_on(visit: Visit) -> None:
    visit.open("view=loop&n=40&horizon=12&period=4&size=4")
    visit.button("Start the run").click()
    expect(visit.page.locator("#time-label")).to_contain_text("t = 4 of 4")
    lost = visit.state("state.loop.periods[0].sampled[0]")
    visit.page.get_by_label("Devices lost since").fill(str(lost))
    visit.page.get_by_label("Gradient norm observed at aggregation 1").fill("0.9")
    visit.button("Plan the next period").click()
    expect(visit.page.locator("#time-label")).to_contain_text("of 8")
    (one,) = visit.state("state.loop.periods[1].replaced")
    expect(visit.page.get_by_text(f"{lost} → {one['by']}").first).to_be_visible()
    # The page recomputes what devices hold from the transfers, across the swap.
    place = "state.loop.periods[1].sampled.map((d) => f.data[state.loop.story.order.get(d)])"
    held = visit.state(f"state.loop.story.frames.map((f) => {place})")
    told = visit.state("state.loop.periods[1].steps.map(({ sampled_data }) => sampled_data)")
    for shown, answered in zip(held[5:], told, strict=True):
        assert all(abs(a - b) < 1e-6 * b for a, b in zip(shown, answered, strict=True))
    assert visit.state(f"state.loop.story.frames.map((f) => f.members.has({lost}))") == [True] * 5 + [False] * 4
    link = visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")
    assert f"x{lost}" in link
    # What was planned in it is trained for real, with the device that was lost.
    run = visit.state("state.loop.id")
    visit.button("Validate this run").click()
    expect(visit.page.get_by_label("Train on")).to_have_value("run")
    with visit.page.expect_response(lambda one: one.request.method == "POST" and "validations" in one.url) as answer:
        visit.button("Start").click()
    assert answer.value.status == 202
    assert json.loads(answer.value.request.post_data or "")["source"] == {"kind": "run", "id": run}
    visit.button("Cancel").click()


def test_a_run_shows_its_own_size_whatever_the_next_one_gets(visit: Visit) -> None:
    visit.open("view=loop&n=40&horizon=12&period=4&size=4")
    visit.button("Start the run").click()
    facts = visit.page.locator("#panel-loop .facts")
    expect(facts).to_contain_text("S = 4")
    visit.page.get_by_text("Settings of the next run").click()
    size = visit.page.locator("#panel-loop").get_by_label("Devices to sample S")
    size.fill("9")
    size.press("Tab")
    expect(facts).to_contain_text("S = 4")
    expect(facts).to_contain_text("T = 12, an aggregation every 4")
    # What is typed stays there while the page is told of something else.
    box = visit.page.get_by_label("Gradient norm observed at aggregation 1")
    box.fill("0.8")
    visit.page.evaluate("import('/studio/ui/store.js').then(({ update }) => update({ jobs: [] }))")
    expect(box).to_have_value("0.8")
