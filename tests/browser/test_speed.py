"""Quick: the first view, and dragging the slider of a large network.

A stall of the page's own comes back at each try; one of a loaded machine does not. So the best of a few tries counts,
and the first view, which is mostly other processes' work, has a bound that only a real fault would break.
"""

import json
import time
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support.server import Server
from tests.support.visit import Visit

TRIES = 6


def note(shots: Path, **measured: float) -> None:
    """Keep what was measured beside the screenshots."""
    path = shots / "speed.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**before, **measured}, indent=1), encoding="utf-8")


def test_the_first_view_comes_quickly(browser: Browser, studio_server: Server, shots: Path) -> None:
    seconds = []
    for _ in range(TRIES):
        with Visit.to(browser, studio_server.url) as visit:
            visit.open("")
            seconds.append(visit.page.evaluate("performance.getEntriesByName('first-view')[0].startTime") / 1000)
        if min(seconds) < 1:  # what it takes where nothing else runs
            break
    note(shots, first_view_seconds=min(seconds))
    assert min(seconds) < 3


FRAMES = """() => { const frames = []; let last = performance.now(); let on = true;
  const tick = (now) => { frames.push(now - last); last = now; if (on) requestAnimationFrame(tick); };
  requestAnimationFrame((now) => { last = now; requestAnimationFrame(tick); });
  window.stopFrames = () => { on = false; return frames; }; }"""


def drag(visit: Visit, seconds: float) -> list[float]:
    """Drag the slider's handle to and fro with the mouse; the time of each frame in milliseconds."""
    box = visit.page.locator("#time").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    visit.page.mouse.move(box["x"] + 8, middle)
    visit.page.mouse.down()
    visit.page.evaluate(FRAMES)
    begin = time.monotonic()
    moves = 0
    while time.monotonic() - begin < seconds:
        moves += 1
        share = abs((moves * 0.03) % 2 - 1)
        visit.page.mouse.move(box["x"] + 8 + share * (box["width"] - 16), middle)
    frames: list[float] = visit.page.evaluate("window.stopFrames()")
    visit.page.mouse.up()
    assert moves > 10
    return frames


def test_800_devices_stay_interactive_while_the_slider_is_dragged(visit: Visit, shots: Path) -> None:
    # The paper's largest setting: p = 0.1, so 80 links each and 64,000 in all.
    visit.open("view=plan&n=800&degree=80&topology=erdos-renyi&size=20&horizon=20&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    assert visit.state("state.network.links.source.length") > 60_000
    worst = []
    for _ in range(TRIES):
        frames = drag(visit, 2.0)
        assert len(frames) > 10
        worst.append(max(frames))
        if worst[-1] < 100:
            break
    assert visit.state("state.settings.step") > 0
    note(shots, frames_at_800=len(frames), longest_frame_ms_at_800=min(worst), tries_at_800=len(worst))
    visit.page.screenshot(path=shots / "n800.png")
    assert min(worst) < 100


def test_2000_devices_stay_interactive_while_the_slider_is_dragged(visit: Visit, shots: Path) -> None:
    visit.open("view=plan&n=2000&topology=scale-free&degree=6&size=20&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    worst = []
    for _ in range(TRIES):
        frames = drag(visit, 2.0)
        assert len(frames) > 10
        worst.append(max(frames))
        if worst[-1] < 100:
            break
    note(shots, frames_at_2000=len(frames), longest_frame_ms_at_2000=min(worst), tries_at_2000=len(worst))
    visit.page.screenshot(path=shots / "n2000.png")
    assert min(worst) < 100
