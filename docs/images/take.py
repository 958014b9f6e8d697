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


def take_validation(visit: Visit) -> None:
    """The curves of a validation on the network that the page shows first, averaged over three seeds."""
    visit.open("view=validate")
    for box in visit.page.locator("#panel-validate input[type=checkbox]").all():
        box.set_checked(box.get_attribute("value") in SCHEMES)
    visit.page.get_by_label("Seeds").fill("3")
    visit.page.get_by_label("Seeds").press("Tab")
    visit.button("Start").click()
    expect(visit.page.locator("#job-state")).to_have_text("succeeded", timeout=TRAINING_MILLISECONDS)
    expect(visit.page.get_by_role("img", name="Accuracy after each aggregation by scheme")).to_be_visible()
    visit.page.evaluate("window.scrollTo(0, 0)")
    visit.wait_for_frame()
    visit.page.screenshot(path=FOLDER / "studio-validation.png")


def main() -> None:
    """Start a service and a browser, and take both."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder), workers="1") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for take in (take_plan, take_validation):
            with Visit.to(browser, server.url, viewport=SIZE, locale="en-GB") as visit:
                take(visit)
        browser.close()


if __name__ == "__main__":
    main()
