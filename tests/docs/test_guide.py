"""Every snippet of the guide and of the front page runs against a live service, and prints what the page shows."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import fedsift
from tests.support.documents import ROOT, name_of
from tests.support.server import Server, running_server
from tests.support.snippets import RUN, SHOWN, Block, blocks_of, check_shown, run_page

GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
WALK = ROOT / "docs" / "guide" / "quickstart.md"
FRONT = ROOT / "README.md"
PAGES = [FRONT, ROOT / "docs" / "library.md", *GUIDE]
# What starts the service goes on until it is stopped, so these tests start it in another way.
NOT_RUN = re.compile(r"make (?:serve|test)(?: +#.*)?")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("guide"), workers="1") as started:
        yield started


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The fleet that the walk makes of its tables; the pages behind it go on with that file."""
    folder = tmp_path_factory.mktemp("fleet")
    for block in blocks_of(WALK.read_text(encoding="utf-8")):
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    tables = [str(folder / name) for name in ("devices.csv", "links.csv")]
    done = fedsift(folder, "import", *tables, "--label-counts", str(folder / "labels.csv"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_snippets_run_and_print_what_is_shown(page: Path, server: Server, fleet: str, tmp_path: Path) -> None:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    if any("curl " in block.text for block in blocks) and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    if page not in {WALK, FRONT}:
        (tmp_path / "fleet.json").write_text(fleet, encoding="utf-8")
    ran = run_page(page, tmp_path, server.url)
    assert ran == sum(block.language in RUN and block.file is None for block in blocks)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_escapes(page: Path) -> None:
    """A block in a language that nobody runs or compares is there for a reason that this file knows."""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        known = block.language in RUN | SHOWN or block.file is not None
        assert known or all(map(NOT_RUN.fullmatch, block.text.splitlines())), (
            f"{page.name}:{block.line} would not be checked"
        )


def test_the_front_page_is_short() -> None:
    assert len(FRONT.read_text(encoding="utf-8").splitlines()) < 150


def test_the_walk_is_run() -> None:
    languages = [block.language for block in blocks_of(WALK.read_text(encoding="utf-8"))]
    assert languages.count("sh") >= 8
    assert sum(language in SHOWN for language in languages) >= 7


@pytest.mark.parametrize(
    ("language", "shown", "printed"),
    [
        ("text", "two\n", "one\n"),
        ("text", "one\n…\nthree\n", "one\ntwo\n"),
        ("text", "a … c\n", "a b d\n"),
        ("text", "… 0.88 ± 0.01\n", "x 0.85 ± 0.01\n"),
        ("json", '{"a": 1}', '{"b": 1}'),
        ("json", '{"a": 0.12}', '{"a": 0.126}'),
        ("json", '{"a": [1]}', '{"a": [1, 2]}'),
        ("json", '{"a": ["x", "…"]}', '{"a": ["y", "z"]}'),
        ("json", '{"a": 1', '{"a": 1}'),
    ],
)
def test_a_wrong_answer_is_noticed(language: str, shown: str, printed: str) -> None:
    with pytest.raises(AssertionError, match="page:1"):
        check_shown(Block(language, None, shown, 1), printed, "page:1")


@pytest.mark.parametrize(
    ("language", "shown", "printed"),
    [
        ("text", "one\n…\nfour … six\n", "one\ntwo\nthree\nfour five six  \n"),
        ("text", "… 0.88 ± 0.01\n", "x 0.89 ± 0.02\n"),
        ("json", '"a": 0.13, "b": "…"', '{"a": 0.1263, "b": [1], "c": null}'),
        ("json", '{"a": ["x", "…"]}', '{"a": ["x", "z"]}'),
    ],
)
def test_a_right_answer_is_accepted(language: str, shown: str, printed: str) -> None:
    check_shown(Block(language, None, shown, 1), printed, "page:1")


@pytest.mark.parametrize("text", ["```sh\nfalse | true; false\n```\n", "```python\nraise SystemExit(3)\n```\n"])
def test_a_broken_snippet_is_noticed(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:1 ended with"):
        run_page(page, tmp_path, "http://127.0.0.1:9")
