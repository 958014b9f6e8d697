"""What `make docs` adds to MkDocs: addresses, links that leave the site, and one file for the service to serve.

The guide is the site's front: its pages have addresses without the folder `guide/`. A link to a file of the repository
that is not part of the site (a decision, an example, a table) leads to the repository. MkDocs checks all other links.
"""

import posixpath
import re
import zipfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SERVED = ROOT / "app" / "guide" / "site.zip"
LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|#)([^)#\s]+)(?=[)#])")
# Source maps, and stemmers of other languages, which the search of an English site does not load.
UNUSED = ("**/*.map", "assets/javascripts/lunr", "sitemap.xml*", "404.html")


def on_files(files: Files, config: MkDocsConfig) -> Files:  # noqa: ARG001 - MkDocs passes it by name
    """Put the guide at the top, and the list of all pages beside it."""
    for file in files:
        if file.src_uri == "README.md":
            file.dest_uri = "documentation.html"
        elif file.src_uri.startswith("guide/") and file.is_documentation_page():
            file.dest_uri = file.dest_uri.removeprefix("guide/")
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files outside the site into links to the repository."""
    folder = posixpath.dirname(page.file.src_uri)
    inside = {file.src_uri for file in files if file.inclusion.is_included()}

    def target(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path in inside:
            return link[1]
        named = posixpath.normpath(posixpath.join("docs", path))
        if not (ROOT / named).exists():
            raise PluginError(f"{page.file.src_uri} links to {link[1]}, which does not exist")
        kind = "tree" if (ROOT / named).is_dir() else "blob"
        return f"{config.extra['repository']}/{kind}/main/{named}"

    return LINK.sub(target, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001 - MkDocs passes it by name
    """Give the theme's search dialog a name, which screen readers say."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what nobody loads, and pack the site into one file; the same pages are the same bytes."""
    site = Path(config.site_dir)
    for pattern in UNUSED:
        for path in sorted(site.glob(pattern), reverse=True):
            _remove(path)
    SERVED.parent.mkdir(exist_ok=True)
    packed = SERVED.with_suffix(".part")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(site.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(site).as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    packed.replace(SERVED)


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in sorted(path.rglob("*"), reverse=True):
            inner.rmdir() if inner.is_dir() else inner.unlink()
        path.rmdir()
    else:
        path.unlink()
