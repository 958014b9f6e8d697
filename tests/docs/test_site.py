"""The site that `make docs` builds: complete, and without a byte from elsewhere. Skipped where it was not built."""

import re
import zipfile
from functools import cache

import pytest

from tests.support.documents import ROOT

SITE = ROOT / "app" / "guide" / "site.zip"
LOADED = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["']?([^"'\s>]+)""")
IN_STYLES = re.compile(r"""(?:url\(|@import\s)["']?((?:https?:)?//[^"')]+)""")

pytestmark = pytest.mark.skipif(not SITE.is_file(), reason="`make docs` builds the site")


@cache
def files() -> dict[str, str]:
    with zipfile.ZipFile(SITE) as packed:
        return {name: packed.read(name).decode(errors="replace") for name in packed.namelist()}


def test_every_page_of_the_guide_is_there() -> None:
    guide = {f"{page.stem}.html" for page in (ROOT / "docs" / "guide").glob("*.md")}
    others = {f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")} - {"README.html"}
    assert guide | others | {"documentation.html"} <= set(files())


def test_nothing_is_loaded_from_elsewhere() -> None:
    pages = {name: text for name, text in files().items() if name.endswith(".html")}
    assert len(pages) > 30
    for name, text in pages.items():
        assert [place for place in LOADED.findall(text) if re.match(r"(https?:)?//", place)] == [], name
        assert "repos/" not in text  # of a repository's address the theme would ask its host for numbers
    for name, text in files().items():
        if name.endswith(".css"):
            assert IN_STYLES.findall(text) == [], name


def test_the_site_is_small() -> None:
    """It is part of the wheel and of the images."""
    assert SITE.stat().st_size < 2_500_000
