"""The guide at `/guide`: pages that `make docs` built, served as they are. Not a byte comes from the internet."""

import base64
import hashlib
import re
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from app.http.problems import NotFoundError
from app.http.security import guide_policy

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

SITE = Path(__file__).parent / "site.zip"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_ABSENT = (
    "The guide is not built yet. `make serve` builds it beside the service, in some seconds; `make docs` does too."
)
# It asks again by itself.
_ABSENT_PAGE = f'<!doctype html><meta http-equiv="refresh" content="3"><title>fedsift</title><p>{_ABSENT}</p>'
_INLINE_SCRIPT = re.compile(rb"<script(?![^>]*(?:src=|application/json))[^>]*>(.*?)</script>", re.DOTALL)


@dataclass(frozen=True)
class _Site:
    files: dict[str, bytes]
    policy: str


@lru_cache(maxsize=1)
def _site(archive: Path, _changed: int) -> _Site:
    """All files by name, read once; again when `make docs` has replaced them."""
    with zipfile.ZipFile(archive) as packed:
        files = {name: packed.read(name) for name in packed.namelist() if PurePosixPath(name).suffix in _TYPES}
    scripts = {s for name, content in files.items() if name.endswith(".html") for s in _INLINE_SCRIPT.findall(content)}
    hashes = sorted(base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    return _Site(files, guide_policy(hashes))


@router.get("/guide")
async def get_guide() -> Response:
    """The front page; its links are relative to the folder."""
    return RedirectResponse("guide/", status_code=308)


@router.get("/guide/{name:path}")
async def get_guide_page(request: Request, name: str) -> Response:
    """A page, or a file that pages load."""
    try:
        site = _site(SITE, SITE.stat().st_mtime_ns)
    except FileNotFoundError:
        if "text/html" in request.headers.get("accept", ""):
            return Response(_ABSENT_PAGE, HTTPStatus.NOT_FOUND, media_type="text/html")
        raise NotFoundError(_ABSENT) from None
    name = name or "index.html"
    content = site.files.get(name)
    if content is None:
        raise NotFoundError("the guide has no such page")
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"Content-Security-Policy": site.policy, "Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[PurePosixPath(name).suffix], headers=headers)
