"""The operational routes' answers."""

from typing import Literal

from app.wire.base import AnswerModel

__all__ = ["Health", "Readiness"]


class Health(AnswerModel):
    """The process is up."""

    status: Literal["ok"]
    version: str


class Readiness(AnswerModel):
    """Whether requests should be sent here, and if not, why."""

    ready: bool
    store: Literal["ok", "unavailable"]
    solver: Literal["ok", "loading", "failed"]
    draining: bool
    queue: int
    validations: Literal["ok", "no_workers", "unavailable"]
    workers: int
