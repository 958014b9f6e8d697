"""The routes: each parses nothing itself, calls one function and returns."""

from app.routers import documentation, operations, plans, runs, samplers, studio, validations

__all__ = ["ROUTERS"]

ROUTERS = (
    plans.router,
    runs.router,
    validations.router,
    samplers.router,
    operations.router,
    documentation.router,
    studio.router,
)
