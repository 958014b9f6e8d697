"""The studio at `/`: a page of plain files, served as they are. No build step, no byte from the internet."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.http.problems import NotFoundError
from app.http.security import STUDIO_POLICY

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_PRELOADS = "<!-- modulepreload -->"
# These run in threads of their own, and load their modules there.
_NOT_PRELOADED = ("ui/theme.js", "draw/layer.worker.js", "draw/layout.worker.js", "draw/force.js", "draw/quadtree.js")


@dataclass(frozen=True)
class _File:
    content: bytes
    media_type: str
    tag: str


@cache
def _files() -> dict[str, _File]:
    """All files by name, read once."""
    read = {str(p.relative_to(_FOLDER).as_posix()): p.read_bytes() for p in _FOLDER.rglob("*") if p.suffix in _TYPES}
    modules = sorted(name for name in read if name.endswith(".js") and name not in _NOT_PRELOADED)
    # Modules are found import by import; naming them all lets the browser fetch them at once.
    links = "\n".join(f'<link rel="modulepreload" href="/studio/{name}">' for name in modules)
    read["index.html"] = read["index.html"].replace(_PRELOADS.encode(), links.encode())
    return {name: _file(name, content) for name, content in read.items()}


def _file(name: str, content: bytes) -> _File:
    return _File(content, _TYPES[Path(name).suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _answer(request: Request, name: str) -> Response:
    file = _files().get(name)
    if file is None:
        raise NotFoundError("there is no such file")
    # Workers take their policy from their own script's headers, so every file carries it.
    headers = {"Content-Security-Policy": STUDIO_POLICY, "Cache-Control": "no-cache", "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/")
async def get_studio(request: Request) -> Response:
    """The page."""
    return _answer(request, "index.html")


@router.get("/studio/{name:path}")
async def get_studio_file(request: Request, name: str) -> Response:
    """Its files."""
    return _answer(request, name)
