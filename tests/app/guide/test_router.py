"""The guide's pages: served from one archive, under a policy of their own; the answer says where they are missing."""

import asyncio
import base64
import hashlib
import os
import zipfile
from pathlib import Path

import httpx
import pytest

from app.guide import router
from app.main import create_app

SCRIPT = "document.title = 'x'"
PAGE = f"<html><script>{SCRIPT}</script><script src='a.js'></script><h1>Guide</h1></html>"


def get(path: str, **headers: str) -> httpx.Response:
    """Ask the service in this process, so that the archive can be another one."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    archive = tmp_path / "site.zip"
    write(archive, {"index.html": PAGE, "assets/a.css": "p {}", "secret.txt": "x"})
    monkeypatch.setattr(router, "SITE", archive)
    return archive


def write(archive: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)


def test_the_front_page_and_its_files_are_served(site: Path) -> None:
    front = get("/guide")
    assert (front.status_code, front.headers["location"]) == (308, "guide/")
    page = get("/guide/")
    assert (page.status_code, page.text) == (200, PAGE)
    assert page.headers["content-type"].startswith("text/html")
    assert get("/guide/assets/a.css").headers["content-type"].startswith("text/css")
    for outside in ("nothing.html", "../router.py", "..%2frouter.py", "secret.txt", "assets"):
        assert get(f"/guide/{outside}").status_code == 404


def test_of_scripts_in_pages_only_its_own_run(site: Path) -> None:
    policy = get("/guide/").headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_page_known_already_is_not_sent_again(site: Path) -> None:
    tag = get("/guide/").headers["etag"]
    again = get("/guide/", **{"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_new_pages_are_served_without_a_restart(site: Path) -> None:
    assert get("/guide/").text == PAGE
    write(site, {"index.html": "new"})
    os.utime(site, ns=(1, 1))
    assert get("/guide/").text == "new"


def test_where_it_was_not_built_the_answer_says_how(site: Path) -> None:
    site.unlink()
    answer = get("/guide/")
    assert answer.status_code == 404
    assert "make docs" in answer.json()["detail"]


def test_a_browser_that_comes_before_the_guide_is_built_sees_it_once_it_is(site: Path) -> None:
    built = site.rename(site.with_suffix(".part"))
    early = get("/guide/", accept="text/html,*/*;q=0.8")
    assert (early.status_code, early.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "not built yet" in early.text
    assert 'http-equiv="refresh"' in early.text
    built.rename(site)
    assert get("/guide/", accept="text/html,*/*;q=0.8").text == PAGE
