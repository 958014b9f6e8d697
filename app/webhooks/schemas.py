"""The requests and answers of /v1/webhooks."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field

from app.http.answers import moment
from app.webhooks.store import LogEntry, Webhook
from app.wire.base import AnswerModel, RequestModel

__all__ = ["DeliveryList", "DeliveryOut", "NewWebhookOut", "WebhookList", "WebhookOut", "WebhookRequest"]


class WebhookRequest(RequestModel):
    """Where events are sent."""

    url: Annotated[str, Field(min_length=1, max_length=2048)] = Field(
        description="`https://host/path`; the operator lists the hosts in FEDSIFT_WEBHOOK_TARGETS."
    )


class WebhookOut(AnswerModel):
    """A program that is told what happens to the caller's plans, runs and validations."""

    id: str
    url: str
    created_at: datetime

    @classmethod
    def from_domain(cls, one: Webhook) -> Self:
        """Without the secret."""
        return cls(id=one.id, url=one.url, created_at=moment(one.created_at))


class NewWebhookOut(WebhookOut):
    """A webhook that was just made, with the secret that signs; it is not shown again."""

    secret: str


class WebhookList(AnswerModel):
    """The caller's webhooks, oldest first."""

    webhooks: list[WebhookOut]


class DeliveryOut(AnswerModel):
    """An event for a webhook, and how far it is; `answer` is what the last attempt ended in."""

    id: str
    event: str
    resource: str
    state: Literal["waiting", "delivered"]
    attempts: int
    answer: str
    created_at: datetime

    @classmethod
    def from_domain(cls, one: LogEntry) -> Self:
        """As the log has it."""
        return cls(**{**vars(one), "created_at": moment(one.created_at)})


class DeliveryList(AnswerModel):
    """The newest deliveries, newest first."""

    deliveries: list[DeliveryOut]
