"""The routes: each parses nothing itself, calls one function and returns."""

from app.openapi.router import router as documentation
from app.operations.router import router as operations
from app.plans.router import router as plans
from app.runs.router import router as runs
from app.samplers.router import router as samplers
from app.studio.router import router as studio
from app.validations.router import router as validations

__all__ = ["ROUTERS"]

ROUTERS = (
    plans,
    runs,
    validations,
    samplers,
    operations,
    documentation,
    studio,
)
