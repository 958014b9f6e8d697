"""The work behind /v1/webhooks."""

from starlette.responses import Response

from app.http.answers import encoded
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.webhooks.schemas import DeliveryList, DeliveryOut, NewWebhookOut, WebhookList, WebhookOut, WebhookRequest
from app.webhooks.store import RefusedError, Webhook, WebhookStore
from app.webhooks.targets import TargetError, Targets
from app.wire.arrays import read_model

__all__ = ["create", "delete", "deliveries", "no_webhook", "not_listed", "show", "show_all", "taken"]


def create(service: Service, owner: str, body: bytes) -> Unwritten:
    """Register a webhook, and tell its secret once."""
    url = read_model(WebhookRequest, body).url
    try:
        Targets.of(service.settings.webhook_targets).place(url)
    except TargetError as error:
        raise InvalidRequestError.at("/url", error.reason) from None

    def write() -> Response:
        try:
            made = WebhookStore(service.store).create(owner, url)
        except RefusedError as error:
            raise ConflictError(str(error)) from None
        answer = NewWebhookOut(**WebhookOut.from_domain(made).model_dump(), secret=made.secret)
        return Response(encoded(service, answer), 201, {"Location": f"/v1/webhooks/{made.id}"}, JSON)

    return Unwritten(write)


def show_all(service: Service, owner: str) -> WebhookList:
    """The owner's webhooks; there are never more than fit on a page."""
    found = WebhookStore(service.store).all(owner)
    return WebhookList(webhooks=[WebhookOut.from_domain(one) for one in found])


def show(service: Service, owner: str, webhook_id: str) -> WebhookOut:
    """One of them."""
    return WebhookOut.from_domain(_found(service, owner, webhook_id))


def delete(service: Service, owner: str, webhook_id: str) -> None:
    """Forget a webhook, and what was to be delivered to it."""
    WebhookStore(service.store).delete(_found(service, owner, webhook_id).id)


def deliveries(service: Service, owner: str, webhook_id: str, limit: int) -> DeliveryList:
    """What arrived, what waits, and why."""
    found = WebhookStore(service.store).log(_found(service, owner, webhook_id).id, limit)
    return DeliveryList(deliveries=[DeliveryOut.from_domain(one) for one in found])


def _found(service: Service, owner: str, webhook_id: str) -> Webhook:
    for one in WebhookStore(service.store).all(owner):
        if one.id == webhook_id:
            return one
    raise no_webhook()


def no_webhook() -> NotFoundError:
    """The caller has no such webhook."""
    return NotFoundError("you have no webhook of this id")


def not_listed() -> InvalidRequestError:
    """The operator has not listed the host."""
    return InvalidRequestError.at("/url", "is not listed in FEDSIFT_WEBHOOK_TARGETS")


def taken() -> ConflictError:
    """The URL has a webhook already, whose secret is not shown again."""
    return ConflictError("there is a webhook for this URL already; its secret is not shown again: delete it first")
