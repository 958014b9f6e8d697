"""The guide as a visitor sees it: nothing from elsewhere, no error, no overflow, readable for everyone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.documents import ROOT
from tests.support.server import Server
from tests.support.visit import AXE, Visit

SITE = ROOT / "app" / "guide" / "site.zip"
PAGES = sorted(page.stem for page in (ROOT / "docs" / "guide").glob("*.md"))
WIDTHS = {1440: 900, 1024: 768, 390: 844}
SERIOUS = """async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
  .filter((found) => ['serious', 'critical'].includes(found.impact))
  .map((found) => `${found.id}: ${found.nodes.map((node) => node.target).join(', ')}`)"""

pytestmark = pytest.mark.skipif(not SITE.is_file(), reason="`make docs` builds the site")


@pytest.mark.parametrize("shade", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_is_accessible(
    browser: Browser, studio_server: Server, width: int, shade: str, shots: Path
) -> None:
    size = {"width": width, "height": WIDTHS[width]}
    # The tests' axe is run by the page, which its policy does not allow.
    with Visit.to(browser, studio_server.url, viewport=size, color_scheme=shade, bypass_csp=True) as visit:
        for name in PAGES:
            visit.page.goto(f"{visit.url}/guide/{name}.html")
            expect(visit.page.locator("h1")).to_be_visible()
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, name
            pictures = visit.page.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
            assert pictures, name
            visit.page.evaluate(AXE)
            assert visit.page.evaluate(SERIOUS) == [], name
            visit.page.screenshot(path=shots / f"guide-{name}-{width}-{shade}.png")


def test_search_and_links_work_under_the_policy(browser: Browser, studio_server: Server) -> None:
    with Visit.to(browser, studio_server.url) as visit:
        visit.page.goto(f"{visit.url}/guide")
        visit.page.get_by_placeholder("Search").fill("set_gap")
        found = visit.page.locator(".md-search-result__link").first
        expect(found).to_be_visible()
        found.click()
        expect(visit.page.locator("h1")).to_be_visible()
        visit.page.goto(f"{visit.url}/guide/")
        visit.page.get_by_role("link", name="From your fleet to a trained model", exact=True).click()
        expect(visit.page).to_have_url(f"{visit.url}/guide/quickstart.html")
