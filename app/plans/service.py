"""The work behind /v1/plans: from bytes to an answer."""

from functools import partial
from time import perf_counter

from starlette.responses import Response

from app.http.answers import encoded, moment, page
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import NotFoundError
from app.http.unread import stored_answer
from app.networks.loading import named_network
from app.plans.accounting import counted
from app.plans.answer import DiagnosisOut, PlanEntryOut, PlanList, PlanOut, asked_for
from app.plans.diagnosis import diagnose
from app.plans.keeping import Asked, keep, made_before
from app.plans.orders import Whose, device_orders
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.plans.store import PlanStore
from app.store.paging import Page
from app.wire.arrays import read_model
from app.wire.base import given

__all__ = ["answer_plan", "delete_plan", "get_orders", "get_plan", "list_plans"]


def answer_plan(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Parse, plan (or only diagnose), encode; a plan that is to be kept has an id, and its key makes it once."""
    begin = perf_counter()
    request = read_model(PlanRequest, body)
    find = partial(named_network, service, owner)
    if request.dry_run:
        diagnosis = diagnose(request.to_domain(service.settings, find))
        return Response(encoded(service, DiagnosisOut.from_domain(diagnosis)), media_type=JSON)
    asked = Asked(owner, key, body, "plan", _shown, get_plan)
    if request.keep and (answered := made_before(service, asked)):
        return answered
    query = request.to_domain(service.settings, find)
    parsed = perf_counter() - begin
    result = counted(service, make_plan(query), parsed)
    about = request.about(key, asked.digest if request.keep else "", asked_for(query))
    if request.keep:
        return keep(service, asked, about, request.output, result)
    return _shown(service, encoded(service, PlanOut.from_domain(result, request.output, **about.told())))


def _shown(_: Service, answer: bytes) -> Response:
    return Response(answer, media_type=JSON)


def list_plans(service: Service, owner: str, asked: Page) -> PlanList:
    """A page of the owner's kept plans."""
    shown, more = page(PlanStore(service.store).page(owner, asked), asked.limit)
    entries = []
    for one in shown:
        made = moment(one.created_at)
        entries.append(PlanEntryOut(id=one.id, created_at=made, updated_at=made, **one.about.told()))
    return PlanList(plans=entries, **given(next=more))


def get_plan(service: Service, owner: str, plan_id: str) -> Response:
    """A kept plan once more, byte for byte."""
    answer = stored_answer(service.unread, partial(PlanStore(service.store).packed_answer, owner, plan_id))
    if answer is None:
        raise _not_found()
    return answer


def get_orders(service: Service, owner: str, plan_id: str, whose: Whose) -> Response:
    """The orders of a kept plan, of all devices or of one."""
    answer = device_orders(service, partial(PlanStore(service.store).packed_answer, owner, plan_id), whose)
    if answer is None:
        raise _not_found()
    return answer


def delete_plan(service: Service, owner: str, plan_id: str) -> None:
    """Forget a kept plan."""
    if not PlanStore(service.store).delete(owner, plan_id):
        raise _not_found()


def _not_found() -> NotFoundError:
    return NotFoundError("you have kept no plan of this id")
