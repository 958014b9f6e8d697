"""Validations: started, watched live, cancelled, found again, taken along."""

import csv
import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from app.commands.validate import verdict_text
from tests.support.server import Server
from tests.support.visit import Visit

# Training takes a while on a loaded machine.
LONG = 90_000
SMALL = "n=20&degree=5&size=3&period=2&horizon=4"


def choose(visit: Visit, *names: str) -> None:
    for box in visit.page.locator("#panel-validate input[type=checkbox]").all():
        box.set_checked(box.get_attribute("value") in names)


def test_a_validation_is_started_watched_and_taken_along(visit: Visit, studio_server: Server, shots: Path) -> None:
    visit.open(f"view=validate&{SMALL}")
    expect(visit.page.get_by_text("No validation open")).to_be_visible()
    choose(visit, "ours-offload", "random-offload", "random")
    visit.page.get_by_label("Aggregations K").fill("6")
    visit.page.get_by_label("Target accuracy").fill("0.5")
    visit.page.get_by_label("Target accuracy").press("Tab")
    visit.button("Start").click()
    expect(visit.page.locator("#job-state")).to_have_text("succeeded", timeout=LONG)
    job = visit.state("JSON.parse(JSON.stringify(state.job))")
    kept = httpx.get(f"{studio_server.url}/v1/validations/{job['id']}").json()
    assert job == kept
    assert [one["scheme"] for one in kept["schemes"]] == ["ours-offload", "random-offload", "random"]
    expect(visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme")).to_be_visible()
    expect(visit.page.get_by_role("img", name=re.compile("Datapoints processed to an accuracy"))).to_be_visible()
    visit.page.screenshot(path=shots / "validation.png")
    figure = visit.page.locator("figure").filter(has_text="Accuracy after each aggregation")
    with visit.page.expect_download() as download:
        figure.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert [float(row["ours-offload"]) for row in rows] == kept["schemes"][0]["accuracy"]["mean"]
    with visit.page.expect_download() as download:
        figure.get_by_role("button", name="PNG").click()
    picture = download.value.path().read_bytes()
    # A table that was opened stays open when news arrives.
    figure.get_by_text("Numbers").click()
    expect(figure.get_by_role("table")).to_be_visible()
    visit.page.evaluate(
        "import('/studio/ui/store.js').then(({ state, update }) => update({ job: { ...state.job, news: true } }))"
    )
    expect(figure.get_by_role("table")).to_be_visible()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000
    # The norms it measured drive the closed loop.
    visit.tab("Closed loop")
    visit.button("Start the run").click()
    visit.button("Go on with these").click()
    expect(visit.page.get_by_text("The horizon is reached.")).to_be_visible()
    norms = kept["schemes"][0]["gradient_norm"]["mean"]
    assert visit.state("state.loop.reports.map(({ norm }) => norm)") == norms[1:2]
    # Another visitor with the link, and from the list of past ones.
    visit.page.goto("about:blank")
    visit.page.goto(f"{studio_server.url}/#view=validate&job={job['id']}")
    expect(visit.page.locator("#job-state")).to_have_text("succeeded")
    # A second one is laid over it.
    choose(visit, "random")
    with visit.page.expect_response(lambda answer: answer.request.method == "POST") as second:
        visit.button("Start").click()
    shown = visit.page.locator(f"#job-state[data-job={second.value.json()['id']}]")
    expect(shown).to_have_text("succeeded", timeout=LONG)
    lines = visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme").locator("polyline")
    expect(lines).to_have_count(1)
    visit.page.locator(f".past [data-key=over-{job['id']}]").click()
    expect(lines).to_have_count(4)


def test_the_plan_shown_is_validated_and_cancelled(visit: Visit) -> None:
    visit.open(f"view=plan&{SMALL}&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    visit.tab("Validate")
    visit.page.get_by_label("Train on").select_option("plan")
    choose(visit, "plan", "random-offload")
    # So many that even a fast machine is far from done when the page looks.
    visit.page.get_by_label("Seeds").fill("100")
    visit.page.get_by_label("Seeds").press("Tab")
    # Keep what arrives while it runs: curves must grow, not appear at the end.
    visit.page.evaluate(
        """(limit) => import('/studio/ui/store.js').then(({ listen, state }) => { const seen = new Set();
        window.grown = new Promise((tell) => {
            listen(['job'], () => {
                const { progress } = state.job ?? {};
                if (progress > 0 && progress < 1 && seen.add(progress).size > 1) tell(true);
            });
            setTimeout(tell, limit, false);
        }); })""",
        LONG,
    )
    visit.button("Start").click()
    expect(visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme")).to_be_visible(timeout=LONG)
    assert visit.page.evaluate("window.grown")
    visit.button("Cancel").click()
    expect(visit.page.locator("#job-state")).to_have_text("cancelled", timeout=LONG)
    expect(visit.button("Cancel")).to_have_count(0)
    expect(visit.page.locator(".past li:has([aria-current])")).to_contain_text("cancelled")


def test_what_cannot_be_trained_is_said(visit: Visit) -> None:
    visit.allowed = "422"
    visit.open("view=validate&n=12&stragglers=100&size=2")
    visit.button("Start").click()
    expect(visit.page.get_by_role("alert")).to_contain_text(re.compile("sampled|process"), timeout=LONG)


def test_the_table_has_the_words_of_the_command_line_for_the_verdict(visit: Visit) -> None:
    visit.open("view=validate&n=12")
    verdicts = [{"outcome": "too_few_runs", "relative_error": -0.2}, {"outcome": "more", "relative_error": 0.3}]
    verdicts.append({"outcome": "nothing_predicted"})
    script = "(all) => import('/studio/core/experiments.js').then(({ verdictText }) => all.map(verdictText))"
    shown = [text.replace("−", "-").replace(" %", ".0%") for text in visit.page.evaluate(script, verdicts)]
    assert shown == [verdict_text(verdict) for verdict in verdicts]


def test_a_scheme_is_called_not_reached_only_at_its_end(visit: Visit) -> None:
    visit.open("view=validate&n=12")

    def said(state: str, **scheme: object) -> str | None:
        one = {"runs": 0, "runs_planned": 2, "reached": 0, "accuracy": {"mean": []}} | scheme
        script = """([job, one]) => import('/studio/core/experiments.js').then(({ standing }) =>
            standing(job, one, 'aggregations_to_target') ?? null)"""
        text: str | None = visit.page.evaluate(script, [{"state": state, "aggregations": 6}, one])
        return text

    curve = {"mean": [0.1, 0.2, 0.3]}
    assert said("running") == "not begun"
    assert said("running", accuracy=curve) == "running, 2 of 6 aggregations"
    assert said("running", accuracy=curve, runs=1) == "not reached so far, 1 of 2 runs"
    assert said("running", accuracy=curve, runs=1, aggregations_to_target=4) == "4 so far, 1 of 2 runs"
    assert said("cancelled", accuracy=curve, runs=1) == "not reached, stopped after 1 of 2 runs"
    assert said("cancelled") == "not begun, stopped"
    assert said("succeeded", accuracy=curve, runs=2) == "not reached"
    assert said("succeeded", accuracy=curve, runs=2, reached=0.5) == "reached by 1 of 2 runs"
    assert said("succeeded", accuracy=curve, runs=2, aggregations_to_target=3) is None
