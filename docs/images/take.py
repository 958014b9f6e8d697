"""Take the pictures of README.md and docs/studio.md from a service that is started for them: `make pictures`."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.support.server import running_server
from tests.support.visit import CHROMIUM, Visit

FOLDER = Path(__file__).parent
SIZE = {"width": 1440, "height": 900}  # narrower, the page puts its parts below each other
# Schemes that show what sampling and what offloading are worth.
SCHEMES = {"ours-offload", "random-offload", "heuristic-offload", "random"}
TRAINING_MILLISECONDS = 600_000


def take_plan(visit: Visit) -> None:
    """A plan for 60 devices at its fourth step."""
    visit.open("view=plan&n=60&planned=1&step=4")
    expect(visit.page.locator("#time-label")).to_contain_text("t = 4 of 10")
    visit.wait_until_drawn()
    visit.wait_for_frame()
    visit.page.screenshot(path=FOLDER / "studio-plan.png")


def take_comparison(visit: Visit) -> None:
    """Three samplers over the number of devices: means over ten seeds with their intervals, and the bound."""
    visit.open("view=compare&n=60&compare=greedy,heuristic,random&counts=1,2,3,4,5,6,8,10,12,16,20,25&seeds=10")
    expect(visit.page.get_by_role("img", name="Objective over the number of sampled devices")).to_be_visible()
    visit.wait_for_frame()
    visit.page.screenshot(path=FOLDER / "studio-compare.png")


def take_validation(visit: Visit) -> None:
    """The curves of a validation, averaged over five seeds, each with a network of its own."""
    visit.open("view=validate&n=60&degree=6&size=5")
    for box in visit.page.locator("#panel-validate input[type=checkbox]").all():
        box.set_checked(box.get_attribute("value") in SCHEMES)
    visit.page.get_by_label("Train on").select_option("generator")
    visit.page.get_by_label("Name").fill("Five networks")
    for label, value in (("Seeds", "5"), ("Draws of random schemes", "2"), ("Aggregations K", "10")):
        visit.page.get_by_label(label).fill(value)
        visit.page.get_by_label(label).press("Tab")
    visit.button("Start").click()
    expect(visit.page.locator("#job-state")).to_have_text("succeeded", timeout=TRAINING_MILLISECONDS)
    expect(visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme")).to_be_visible()
    visit.page.evaluate("window.scrollTo(0, 0)")
    visit.wait_for_frame()
    visit.page.screenshot(path=FOLDER / "studio-validation.png")


def main() -> None:
    """Start a service and a browser, and take all."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder), workers="1", time_limit="60") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for take in (take_plan, take_comparison, take_validation):
            with Visit.to(browser, server.url, viewport=SIZE, locale="en-GB") as visit:
                take(visit)
        browser.close()


if __name__ == "__main__":
    main()
