"""What a visitor does, and what no visit may see: a request elsewhere, or an error in the console."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Response, expect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Two loaded cores are slow; a person would wait as long.
PATIENCE = 60_000
COLOURS = """() => { const m = document.querySelector('#map'); const c = new OffscreenCanvas(m.width, m.height);
  c.getContext('2d').drawImage(m, 0, 0);
  const p = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(p).size; }"""
# Some views hide the drawing: nothing is drawn there, but the layout settles.
DRAWN = """() => { const map = document.querySelector('#map'); const { drawn, settled } = map.dataset;
  return settled !== undefined && (drawn === settled || !map.checkVisibility()); }"""
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def is_plan(answer: Response) -> bool:
    """Whether a plan was asked for, and not a diagnosis."""
    asked = json.loads(answer.request.post_data or "{}")
    return answer.url.endswith("/v1/plans") and not asked.get("dry_run", False)


@dataclass
class Visit:
    page: Page
    url: str
    errors: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)
    # What the console may say, since the test asks for it: an answer of 422, say.
    allowed: str = r"^$"

    @classmethod
    @contextmanager
    def to(cls, browser: Browser, url: str, **context: Any) -> Iterator["Visit"]:
        settings = {"viewport": {"width": 1440, "height": 900}, "permissions": ["clipboard-read", "clipboard-write"]}
        opened = browser.new_context(**{**settings, **context})
        opened.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        visit = cls(opened.new_page(), url)
        home = (url, "blob:", "data:")
        opened.on("request", lambda r: None if r.url.startswith(home) else visit.strayed.append(r.url))
        visit.page.on("console", lambda m: visit.errors.append(m.text) if m.type in {"error", "warning"} else None)
        visit.page.on("pageerror", lambda e: visit.errors.append(str(e)))
        try:
            yield visit
            assert not visit.strayed, visit.strayed
            unexpected = [text for text in visit.errors if not re.search(visit.allowed, text)]
            assert not unexpected, unexpected
        finally:
            opened.close()

    def open(self, fragment: str = "view=network") -> "Visit":
        """Go to the page and wait until its network is drawn; an empty fragment is a first visit."""
        self.page.goto(f"{self.url}/{fragment and '#' + fragment}")
        self.wait_until_drawn()
        return self

    def wait_until_drawn(self) -> None:
        """Until the layout has settled and the canvas shows it."""
        self.page.wait_for_function(DRAWN)

    def wait_for_frame(self) -> None:
        """Until what was asked for by now is painted: the second frame begins when the first is done."""
        self.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def drawn_colours(self) -> int:
        """How many different colours the canvas shows."""
        return int(self.page.evaluate(f"({COLOURS})()"))

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def plan(self) -> dict[str, Any]:
        """Press Plan, and return the answer that came over the wire."""
        # The diagnosis of the network may still be under way; it has the same address.
        with self.page.expect_response(is_plan) as answer:
            self.button("Plan").click()
        plan: dict[str, Any] = answer.value.json()
        expect(self.page.locator("#timebar")).to_be_visible()
        return plan

    def state(self, expression: str) -> Any:
        """What the page knows: an expression over its `state`."""
        script = f"import('/studio/ui/store.js').then(({{ state }}) => ({expression}))"
        return self.page.evaluate(script)

    def request(self) -> dict[str, Any]:
        """The request behind the plan, as the page would send it."""
        script = "import('/studio/actions.js').then(({ planRequest }) => JSON.stringify(planRequest()))"
        request: dict[str, Any] = json.loads(self.page.evaluate(script))
        return request

    def drop(self, contents: dict[str, bytes]) -> None:
        """Drop files on the page as a person would: a real DataTransfer with the files in it."""
        self.page.evaluate(
            """(files) => { const transfer = new DataTransfer();
            for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name));
            for (const kind of ['dragover', 'drop']) document.querySelector('main').dispatchEvent(
              new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer })); }""",
            [[name, list(content)] for name, content in contents.items()],
        )

    def slide(self, step: int) -> None:
        """Move the slider with the keys, as a person would."""
        slider = self.page.get_by_label("Step t")
        slider.press("Home")
        for _ in range(step):
            slider.press("ArrowRight")
        expect(slider).to_have_value(str(step))

    def accessibility(self) -> list[str]:
        """Serious and critical findings of axe-core. Evaluated by the debugger, so the page's policy stays strict."""
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run().then(({ violations }) => violations)")
        grave = [v for v in found if v["impact"] in {"serious", "critical"}]
        return [f"{v['id']}: {[n['html'][:120] for n in v['nodes']][:4]}" for v in grave]
