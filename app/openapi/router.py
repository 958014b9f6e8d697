"""The OpenAPI document in Swagger UI, from an installed package: no byte comes from the internet."""

from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from app.http.problems import NotFoundError
from app.http.security import DOCS_POLICY

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>fedsift API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null});\n'
_ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript", "favicon-32x32.png": "image/png"}


def _folder() -> Path:
    spec = find_spec("fastapi_swagger")
    if spec is None or spec.origin is None:
        raise NotFoundError("the package with Swagger UI is not installed")
    return Path(spec.origin).parent / "resources"


@router.get("/docs")
async def get_docs() -> Response:
    """The page."""
    return HTMLResponse(_PAGE, headers={"Content-Security-Policy": DOCS_POLICY})


@router.get("/docs/start.js")
async def get_start() -> Response:
    """The script that starts Swagger UI; an inline script would need a weaker content policy."""
    return Response(_START, media_type="text/javascript")


@router.get("/docs/{name}")
async def get_asset(name: str) -> Response:
    """Swagger UI itself."""
    if name not in _ASSETS:
        raise NotFoundError("there is no such file")
    return FileResponse(_folder() / name, media_type=_ASSETS[name], headers={"Cache-Control": "max-age=86400"})
