"""/v1/webhooks: who is told what happens to the caller's plans, runs and validations."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from app.http.described import JSON_BODY, NO_KEY, NO_STORE, problems, reads
from app.http.gate import look_up, process
from app.http.security import Owner
from app.webhooks import service
from app.webhooks.schemas import DeliveryList, NewWebhookOut, WebhookList, WebhookOut, WebhookRequest
from app.wire.parameters import EMPTY_PAGE, KNOWN_PARAMETERS, LOCATION, STRANGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"], dependencies=KNOWN_PARAMETERS)

WebhookId = Annotated[str, Path(pattern="^whk_[0-9a-f]{16}$", description="As POST /v1/webhooks answered.")]
Newest = Annotated[int, Query(ge=1, le=1000, description="How many, newest first.")]
_ONE_WEBHOOK = problems(NO_KEY, service.no_webhook(), STRANGE, NO_STORE)


@router.post(
    "",
    status_code=201,
    operation_id="createWebhook",
    summary="Be told what happens",
    response_model=NewWebhookOut,
    responses={201: {"headers": LOCATION}, **problems(*JSON_BODY, service.taken(), service.not_listed())},
    openapi_extra=reads(WebhookRequest),
)
async def create_webhook(request: Request, owner: Owner) -> Response:
    """Send signed events of plans, runs and validations to a URL (docs/webhooks.md); shows the secret once."""
    return await process(request, owner, service.create)


@router.get("", operation_id="listWebhooks", summary="List webhooks", responses=problems(NO_KEY, STRANGE, NO_STORE))
async def list_webhooks(request: Request, owner: Owner) -> WebhookList:
    """The caller's webhooks, oldest first, without their secrets."""
    return await look_up(request, service.show_all, owner)


@router.get("/{webhook_id}", operation_id="getWebhook", summary="A webhook", responses=_ONE_WEBHOOK)
async def get_webhook(request: Request, owner: Owner, webhook_id: WebhookId) -> WebhookOut:
    """Where it sends events, without its secret."""
    return await look_up(request, service.show, owner, webhook_id)


@router.get(
    "/{webhook_id}/deliveries",
    operation_id="listDeliveries",
    summary="What was delivered to a webhook",
    responses=problems(NO_KEY, service.no_webhook(), EMPTY_PAGE, NO_STORE),
)
async def list_deliveries(request: Request, owner: Owner, webhook_id: WebhookId, limit: Newest = 100) -> DeliveryList:
    """What arrived, what waits, and what the last attempt ended in, newest first."""
    return await look_up(request, service.deliveries, owner, webhook_id, limit)


@router.delete(
    "/{webhook_id}", status_code=204, operation_id="deleteWebhook", summary="Forget a webhook", responses=_ONE_WEBHOOK
)
async def delete_webhook(request: Request, owner: Owner, webhook_id: WebhookId) -> None:
    """And what was to be delivered to it."""
    await look_up(request, service.delete, owner, webhook_id)
