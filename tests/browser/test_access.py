"""For everyone: axe-core, the keyboard, dark mode, a tablet, an API key."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.command import make_key
from tests.support.server import Server, running_server
from tests.support.visit import Visit

VIEWS = {
    "network": "n=30",
    "plan": "view=plan&n=30&planned=1&step=3&device=4",
    "compare": "view=compare&n=30&compare=heuristic,random",
    "loop": "view=loop&n=30",
    "validate": "view=validate&n=30",
}


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, studio_server: Server, shade: str, shots: Path) -> None:
    with Visit.to(browser, studio_server.url, color_scheme=shade) as visit:
        for name, fragment in VIEWS.items():
            # Dark differs in colours alone, and these two views have them all.
            if shade == "dark" and name not in {"plan", "validate"}:
                continue
            visit.page.goto("about:blank")
            visit.open(fragment)
            if name == "plan":
                expect(visit.page.locator("#timebar")).to_be_visible()
            if name == "compare":
                expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()
            for closed in visit.page.locator("details:not([open]) > summary").all():
                if closed.is_visible():
                    closed.click()
            assert visit.accessibility() == [], name
        if shade == "dark":
            visit.page.goto("about:blank")
            visit.open(VIEWS["plan"])
            expect(visit.page.locator("#timebar")).to_be_visible()
            visit.page.screenshot(path=shots / "dark.png")


def test_the_theme_follows_the_system_until_chosen(browser: Browser, studio_server: Server) -> None:
    with Visit.to(browser, studio_server.url, color_scheme="dark") as visit:
        visit.open("n=5")
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = visit.page.evaluate(paper)
        visit.button("Theme: auto").click()
        light = visit.page.evaluate(paper)
        assert light != dark
        visit.page.reload()
        assert visit.page.evaluate(paper) == light
        visit.page.locator("#theme").click()
        assert visit.page.evaluate(paper) == dark


def test_everything_can_be_done_by_keyboard(visit: Visit) -> None:
    visit.open("n=30")
    page = visit.page
    page.keyboard.press("Tab")
    expect(page.get_by_text("To the settings")).to_be_focused()
    page.get_by_role("tab", name="Network").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Plan")).to_be_focused()
    expect(page.locator("#panel-plan")).to_be_visible()
    for _ in range(40):
        if page.evaluate("document.activeElement.id") == "plan-button":
            break
        page.keyboard.press("Tab")
        # Whatever has the focus shows it.
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.evaluate("document.activeElement.outerHTML.slice(0, 100)")
    page.keyboard.press("Enter")
    expect(page.locator("#timebar")).to_be_visible()
    page.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    device = page.locator("#inspector-body").get_by_label("Device", exact=True)
    expect(device).to_have_value(re.compile(r"\d+"))
    expect(page.locator("#announcer")).to_contain_text(re.compile(r"Device \d+: "))
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(device).to_have_value("")


@pytest.mark.parametrize(("width", "height"), [(820, 1180), (600, 960)])
def test_a_tablet_shows_all_of_it(
    browser: Browser, studio_server: Server, width: int, height: int, shots: Path
) -> None:
    size = {"width": width, "height": height}
    with Visit.to(browser, studio_server.url, viewport=size, has_touch=True) as visit:
        visit.open("view=plan&n=40&planned=1&step=2&device=3")
        expect(visit.page.locator("#timebar")).to_be_visible()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        for part in ("#map", "#inspector", "#plan-button", "#time"):
            visit.page.locator(part).scroll_into_view_if_needed()
            box = visit.page.locator(part).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width + 1
            assert box["width"] > (width / 2 if part == "#map" else 40)
        visit.page.screenshot(path=shots / f"tablet-{width}.png", full_page=True)
        visit.page.locator("#map").scroll_into_view_if_needed()
        visit.page.evaluate("document.querySelector('#map').scrollIntoView()")
        box = visit.page.locator("#map").bounding_box()
        assert box is not None
        visit.page.touchscreen.tap(box["x"] + 5, box["y"] + 5)
        expect(visit.page.locator("#inspector-body").get_by_label("Device", exact=True)).to_have_value("")


def test_a_service_that_asks_for_a_key_gets_it(browser: Browser, tmp_path: Path) -> None:
    key = make_key(tmp_path, "someone")["key"]
    with running_server(tmp_path, auth="required") as server, Visit.to(browser, server.url) as visit:
        visit.allowed = "401"
        visit.open("view=plan&n=12&size=2")
        expect(visit.page.get_by_role("dialog")).to_be_visible()
        visit.page.get_by_label("Key", exact=True).fill(key)
        visit.button("Use this key").click()
        visit.plan()
        assert visit.page.evaluate("Object.values(sessionStorage)") == [key]
        assert key not in visit.page.url
        visit.page.locator("#panel-plan .snippets summary").click()
        expect(visit.page.locator("#panel-plan pre").first).to_contain_text('-H "X-API-Key: $FEDSIFT_KEY"')
