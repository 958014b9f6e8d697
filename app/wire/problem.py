"""RFC 9457 problem documents."""

from pydantic import Field

from app.wire.base import AnswerModel, Optional
from solver import Obstacle

__all__ = ["DeviceReason", "ErrorItem", "Problem"]


class ErrorItem(AnswerModel):
    """One broken rule, and where: in the body, in a query parameter or in a header."""

    pointer: Optional[str] = Field(
        None, description="JSON pointer (RFC 6901) into the body; empty for the whole of it."
    )
    parameter: Optional[str] = Field(None, description="The query parameter.")
    header: Optional[str] = Field(None, description="The header.")
    detail: str


class DeviceReason(AnswerModel):
    """Why a device cannot be sampled, and from which step on."""

    device: int
    id: Optional[str] = Field(None, description="If devices have ids.")
    step: int
    reason: str

    @classmethod
    def of(cls, obstacle: Obstacle) -> "DeviceReason":
        """The reason in the domain's words."""
        return cls(device=obstacle.device, step=obstacle.step, reason=obstacle.reason)


class Problem(AnswerModel):
    """What went wrong. `type` is stable; the rest is for people."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str = Field("", description="Quote it when asking for help; the logs carry it.")
    errors: list[ErrorItem] = Field([], description="The first broken rules, with their places.")
    devices: list[DeviceReason] = Field([], description="The first devices that stand in the way (infeasible only).")
    device_count: int = Field(0, description="How many devices stand in the way in all.")
