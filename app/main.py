"""The application factory."""

from importlib.metadata import version

from fastapi import FastAPI
from pydantic import BaseModel

__all__ = ["Health", "create_app"]


class Health(BaseModel):
    """The process is up."""

    status: str
    version: str


def create_app() -> FastAPI:
    """Build the service; uvicorn calls it once per process."""
    app = FastAPI(title="fedsift", version=version("fedsift"), docs_url=None, redoc_url=None)

    @app.get("/healthz", operation_id="getHealth", tags=["operations"])
    async def get_health() -> Health:
        """Answer as long as the process lives."""
        return Health(status="ok", version=version("fedsift"))

    return app
