"""The operational routes' answers."""

from typing import Literal

from pydantic import Field

from app.wire.base import AnswerModel

__all__ = ["Health", "Readiness", "StoreState"]

StoreState = Literal["ok", "unavailable", "does_not_answer", "newer_schema"]


class Health(AnswerModel):
    """The process is up."""

    status: Literal["ok"]
    version: str


class Readiness(AnswerModel):
    """Whether requests should be sent here, and if not, why."""

    ready: bool
    store: StoreState
    disk: Literal["ok", "low"]
    solver: Literal["ok", "loading", "failed"]
    kernels: Literal["ok", "compiling", "failed"] = Field(
        description="`compiling`: what only some requests need is not compiled yet. `failed`: it cannot be compiled "
        "ahead; the log says why. In both cases a request compiles what it needs."
    )
    kernels_missing: int = Field(description="Kernels that are not compiled yet.")
    draining: bool
    queue: int
    validations: Literal["ok", "no_workers", "unavailable"]
    workers: int
