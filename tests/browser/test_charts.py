"""The one chart: switches for series, a crosshair, a log axis, fixed colours, and how far a scheme is."""

import math
import re
import time
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from sampler.scheme_styles import style_of
from tests.support.server import Server
from tests.support.visit import Visit

SCHEMES = ["ours-offload", "random-offload", "random"]
ABOUT = "Accuracy after each aggregation by scheme"


@pytest.fixture(scope="module")
def job(studio_server: Server) -> dict[str, Any]:
    """A validation that has ended."""
    source = {"kind": "generator", "devices": 12, "mean_datapoints": 30, "link_probability": 0.4}
    body = {"source": source, "schemes": SCHEMES, "seeds": [0, 1], "draws": 1, "sample_size": 3, "aggregations": 4}
    with studio_server.client() as client:
        place = client.post("/v1/validations", json=body).headers["location"]
        for _ in range(900):
            found: dict[str, Any] = client.get(place).json()
            if found["state"] == "succeeded":
                return found
            time.sleep(0.1)
    raise AssertionError(found["state"])


@pytest.fixture
def shown(visit: Visit, job: dict[str, Any]) -> Locator:
    """The figure of its accuracy."""
    visit.open(f"view=validate&n=12&job={job['id']}")
    expect(visit.page.get_by_role("img", name=ABOUT)).to_be_visible()
    return visit.page.locator("figure").filter(has_text="Accuracy after each aggregation")


def names(figure: Locator) -> list[str]:
    return figure.locator("polyline title").all_text_contents()


def test_a_series_is_switched_off_by_keyboard_and_stays_off(visit: Visit, shown: Locator) -> None:
    assert names(shown) == SCHEMES
    toggle = shown.get_by_role("button", name="random", exact=True)
    toggle.focus()
    visit.page.keyboard.press("Enter")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    assert names(shown) == SCHEMES[:2]
    # News of the validation redraw the page, and take back neither the choice nor the focus.
    news = "import('/studio/ui/store.js').then(({ state, update }) => update({ job: { ...state.job } }))"
    visit.page.evaluate(news)
    expect(toggle).to_be_focused()
    assert names(shown) == SCHEMES[:2]
    visit.page.keyboard.press("Enter")
    assert names(shown) == SCHEMES


def test_the_crosshair_tells_values_to_mouse_and_keyboard(visit: Visit, shown: Locator, job: dict[str, Any]) -> None:
    drawing = shown.get_by_role("img", name=ABOUT)
    told = drawing.locator(".hair text")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    assert box is not None
    visit.page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    expect(told.first).to_have_text("aggregation k 4")
    last = job["schemes"][0]["accuracy"]["mean"][-1]
    shown_value = re.match(r"ours-offload: ([\d.]+) \(", told.nth(1).text_content() or "")
    assert shown_value is not None
    assert abs(float(shown_value[1]) - last) < 6e-4
    visit.page.mouse.move(0, 0)
    expect(told).to_have_count(0)
    drawing.focus()
    visit.page.keyboard.press("ArrowRight")
    expect(told.first).to_have_text("aggregation k 0")
    visit.page.keyboard.press("ArrowRight")
    expect(told.first).to_have_text("aggregation k 1")
    expect(visit.page.locator("#announcer")).to_contain_text("aggregation k 1, ours-offload: ")


def test_a_log_axis_shows_what_is_left_to_learn(shown: Locator, job: dict[str, Any]) -> None:
    def heights() -> list[float]:
        points = shown.locator("polyline").first.get_attribute("points") or ""
        return [float(point.split(",")[1]) for point in points.split()]

    rising = heights()
    assert rising[-1] < rising[0]
    shown.get_by_role("button", name="Log scale").click()
    expect(shown.get_by_text("1 − accuracy, log scale")).to_be_visible()
    falling = heights()
    assert falling[-1] > falling[0]
    # Equal ratios are equal distances: compare three points of the curve with their logarithms.
    left = [math.log(1 - value) for value in job["schemes"][0]["accuracy"]["mean"]]
    slope = (falling[-1] - falling[0]) / (left[-1] - left[0])
    assert all(abs(falling[0] + slope * (value - left[0]) - y) < 0.2 for value, y in zip(left, falling, strict=True))


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_schemes_have_the_colours_and_dashes_of_all_figures(
    browser: Browser, studio_server: Server, job: dict[str, Any], shade: str
) -> None:
    with Visit.to(browser, studio_server.url, color_scheme=shade) as visit:
        visit.open(f"view=validate&n=12&job={job['id']}")
        drawing = visit.page.get_by_role("img", name=ABOUT)
        expect(drawing).to_be_visible()
        look = "(all) => all.map((one) => [one.getAttribute('stroke'), one.getAttribute('stroke-dasharray')])"
        drawn = drawing.locator("polyline").evaluate_all(look)
        assert [bool(dash) for _, dash in drawn] == [style_of(name).dash == "--" for name in SCHEMES]
        if shade == "light":
            assert [colour for colour, _ in drawn] == [style_of(name).colour for name in SCHEMES]
        else:
            paper = drawing.locator("rect").first.get_attribute("fill") or ""
            assert all(contrast(colour, paper) > 3 for colour, _ in drawn)


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_running_not_begun_and_ended_are_told_apart(visit: Visit, shown: Locator, job: dict[str, Any]) -> None:
    # The answer of a service that is half done: one scheme ended, one in its second run, one not begun.
    curve = {"mean": [0.1, 0.2], "deviation": [0.0, 0.0]}
    half = {
        **job,
        "state": "running",
        "schemes": [
            job["schemes"][0],
            {**job["schemes"][1], "runs": 1, **dict.fromkeys(("accuracy", "loss", "gradient_norm"), curve)},
            {**job["schemes"][2], "runs": 0}
            | {name: {"mean": [], "deviation": []} for name in ("accuracy", "loss", "gradient_norm")},
        ],
    }
    visit.page.evaluate("(job) => import('/studio/ui/store.js').then(({ update }) => update({ job }))", half)
    keys = shown.locator(".key")
    assert [" ".join(text.split()) for text in keys.all_inner_texts()] == [
        "ours-offload",
        "random-offload running, 1 of 2 runs done",
        "random not begun",
    ]
    expect(shown.locator("circle.growing")).to_have_count(1)
    # The axis is as long as the validation will be, however far it is.
    ticks = shown.locator("text").all_text_contents()
    assert "4" in ticks
    bars = visit.page.locator("figure").filter(has_text="Aggregations to an accuracy")
    expect(bars).to_contain_text("not begun")
    expect(bars).to_contain_text("1 of 2 runs")


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_the_line_of_a_device_has_the_colour_of_its_rim(browser: Browser, studio_server: Server, shade: str) -> None:
    with Visit.to(browser, studio_server.url, color_scheme=shade) as visit:
        visit.open("view=plan&n=30&size=4&planned=1")
        figure = visit.page.get_by_role("img", name="Data held by the sampled devices over time")
        expect(figure.locator("polyline")).to_have_count(4)
        strokes = figure.locator("polyline").evaluate_all("(all) => all.map((line) => line.getAttribute('stroke'))")
        script = """(shade) => Promise.all(['draw/roles', 'draw/palette', 'ui/store', 'actions'].map((m) =>
            import(`/studio/${m}.js`))).then(([{ covering }, { HUES }, { state }, { shownStory }]) => {
            const { hue } = covering(state.network, shownStory(), new Set(state.plan.sampled));
            return state.plan.sampled.map((device) => HUES[shade][hue[device]]); })"""
        assert strokes == visit.page.evaluate(script, shade)


def test_letters_are_large_enough_on_a_phone(browser: Browser, studio_server: Server, job: dict[str, Any]) -> None:
    with Visit.to(browser, studio_server.url, viewport={"width": 390, "height": 844}, has_touch=True) as visit:
        visit.open(f"view=validate&n=12&job={job['id']}")
        expect(visit.page.locator("#job-state")).to_have_text("succeeded")
        drawn = visit.page.locator("#result-validate figure > svg, figure svg.chart")
        sizes = drawn.evaluate_all(
            """(all) => all.map((svg) => [svg.getAttribute('aria-label'), svg.clientWidth / svg.viewBox.baseVal.width
                * parseFloat(getComputedStyle(svg.querySelector('text')).fontSize)])"""
        )
        assert len(sizes) == 6
        assert all(pixels >= 10 for _, pixels in sizes), sizes
        # Nothing is written beyond the edge.
        beyond = drawn.evaluate_all(
            """(all) => all.flatMap((svg) => { const room = svg.getBoundingClientRect();
                return [...svg.querySelectorAll('text')].filter((text) => { const { left, right } =
                text.getBoundingClientRect(); return right > room.right + 1 || left < room.left - 1; })
                .map((text) => text.textContent); })"""
        )
        assert beyond == []
