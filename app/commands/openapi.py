"""`fedsift openapi`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from app.main import create_app
from app.openapi.v30 import as_openapi_30
from app.settings import Settings

__all__ = ["Version", "openapi", "rendered"]


class Version(StrEnum):
    """The versions of OpenAPI in which the document can be printed."""

    V3_1 = "3.1"
    V3_0 = "3.0"


def rendered(version: Version) -> str:
    """The document of a service that requires API keys: it describes every response."""
    document = create_app(Settings(auth="required", database_url="sqlite:///:memory:")).openapi()
    chosen = as_openapi_30(document) if version is Version.V3_0 else document
    return json.dumps(chosen, indent=2, ensure_ascii=False) + "\n"


def openapi(
    version: Annotated[Version, typer.Option(help="Of OpenAPI; some generators do not read 3.1 yet.")] = Version.V3_1,
) -> None:
    """Print the service's OpenAPI document."""
    typer.echo(rendered(version), nl=False)
