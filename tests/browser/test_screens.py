"""Desktop, tablet and phone, light and dark: nothing is too wide, the slider is in reach, fingers are not trapped."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.server import Server
from tests.support.visit import Visit

SCREENS = {1440: 900, 1024: 768, 390: 844}
VIEWS = {
    "network": "view=network&n=30",
    "plan": "view=plan&n=30&planned=1&step=2",
    "device": "view=plan&n=30&planned=1&step=2&device=4",
    "compare": "view=compare&n=30&compare=heuristic,random",
    "loop": "view=loop&n=30",
    "validate": "view=validate&n=30",
}
# Parts that reach beyond the screen and are not in something that scrolls by itself.
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility()
  && e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.wide-table, .scroll, pre, [role=tablist], .unseen'))
  .map((e) => `${e.tagName}#${e.id}.${e.className}`)"""


def size(width: int) -> dict[str, Any]:
    return {"viewport": {"width": width, "height": SCREENS[width]}, "has_touch": width < 1200}


@pytest.mark.parametrize("shade", ["light", "dark"])
@pytest.mark.parametrize("width", SCREENS)
def test_nothing_is_wider_than_the_screen(
    browser: Browser, studio_server: Server, shots: Path, width: int, shade: str
) -> None:
    with Visit.to(browser, studio_server.url, color_scheme=shade, **size(width)) as visit:
        for name, fragment in VIEWS.items():
            visit.page.goto("about:blank")
            visit.open(fragment)
            if name in {"plan", "device"}:
                expect(visit.page.locator("#timebar")).to_be_visible()
                box = visit.page.locator("#time").bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= SCREENS[width]
            if name == "compare":
                expect(visit.page.get_by_role("button", name="Show the plan of random")).to_be_visible()
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert visit.page.evaluate(f"({TOO_WIDE})()") == [], name
            visit.page.screenshot(path=shots / f"{name}-{width}-{shade}.png")


def test_all_views_are_in_sight_on_a_phone(browser: Browser, studio_server: Server) -> None:
    with Visit.to(browser, studio_server.url, **size(390)) as visit:
        visit.open("n=30")
        for tab in visit.page.get_by_role("tab").all():
            box = tab.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390, tab.inner_text()


def test_a_long_list_does_not_push_the_results_down_on_a_phone(browser: Browser, studio_server: Server) -> None:
    with studio_server.client() as client, Visit.to(browser, studio_server.url, **size(390)) as visit:
        source = {"kind": "generator", "devices": 12, "mean_datapoints": 30}
        body = {"source": source, "schemes": ["random"], "seeds": [0], "sample_size": 2, "aggregations": 1}
        client.post("/v1/validations", json=body).raise_for_status()
        visit.open("view=validate&n=12")
        expect(visit.page.locator("#panel-validate .past li").first).to_be_visible()
        grown = """(list) => { for (let i = 0; i < 30; i += 1) list.append(list.firstElementChild.cloneNode(true));
            return [list.clientHeight, list.scrollHeight]; }"""
        shown, whole = visit.page.locator("#panel-validate .past").first.evaluate(grown)
        assert shown < SCREENS[390] / 3 < whole


def test_a_finger_on_the_drawing_scrolls_the_page_and_two_zoom(browser: Browser, studio_server: Server) -> None:
    with Visit.to(browser, studio_server.url, **size(390)) as visit:
        visit.open("n=30")
        box = visit.page.locator("#map").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 40
        session = visit.page.context.new_cdp_session(visit.page)
        touch(session, [[(x, y - 15 * i)] for i in range(20)])
        reached = """(limit) => new Promise((tell) => { const look = () => scrollY > 50 ? tell(true)
            : limit-- > 0 ? setTimeout(look, 100) : tell(false); look(); })"""
        assert visit.page.evaluate(reached, 600)
        visit.page.evaluate("scrollTo(0, 0)")
        scale = "import('/studio/ui/stage.js').then(({ drawing: { map } }) => map.camera.scale)"
        before = visit.page.evaluate(scale)
        touch(session, [[(x - 20 - 10 * i, y - 150), (x + 20 + 10 * i, y - 150)] for i in range(9)])
        assert visit.page.evaluate(scale) > 1.5 * before


def touch(session: Any, path: list[list[tuple[float, float]]]) -> None:
    """Put fingers down at the first places, move them through the others, and lift them."""
    kinds = ["touchStart", *["touchMove"] * (len(path) - 1)]
    for kind, places in zip(kinds, path, strict=True):
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
