"""The work behind /v1/plans: from bytes to an answer."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter

from starlette.responses import Response

from app.http.answers import digest_of, encoded, find_made, moment, new_id, page, replayed, same_body
from app.http.gate import JSON, Service, Unwritten, check_room
from app.http.problems import NotFoundError
from app.http.unread import stored_answer
from app.networks.loading import named_network, network_gone
from app.plans.accounting import counted
from app.plans.answer import DiagnosisOut, PlanEntryOut, PlanList, PlanOut, asked_for
from app.plans.diagnosis import diagnose
from app.plans.orders import Whose, device_orders
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.plans.store import KeptPlan, PlanEntry, PlanStore
from app.store.about import KeyTakenError, Made
from app.store.database import GoneError
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
    digest = digest_of("plan", body) if request.keep else ""
    if request.keep and (made := same_body(find_made(service, owner, key), digest)):
        return _replayed(service, owner, made)
    query = request.to_domain(service.settings, find)
    parsed = perf_counter() - begin
    result = counted(service, make_plan(query), parsed)
    about = request.about(key, digest, asked_for(query))
    if not request.keep:
        return Response(encoded(service, PlanOut.from_domain(result, request.output, **about.told())), media_type=JSON)
    entry = PlanEntry(new_id("plan"), time.time(), about)
    told = {"id": entry.id, "created_at": moment(entry.created_at), **about.told()}
    answer = encoded(service, PlanOut.from_domain(result, request.output, **told))
    proven = {"status": result.plan.status.value, "objective": result.plan.objective}
    listed = replace(entry, about=replace(about, asked=about.asked | proven))
    limit = service.settings.key_bytes
    return _unwritten(
        service,
        owner,
        listed,
        PlanStore(service.store).adding(listed, owner, KeptPlan(body, answer), most_bytes=limit),
        answer,
    )


def _unwritten(service: Service, owner: str, entry: PlanEntry, keep: Callable[[], None], answer: bytes) -> Unwritten:
    """The answer, once the plan is kept; if another request with its key was first, that one's."""

    def write() -> Response:
        check_room(service, owner)
        try:
            keep()
        except KeyTakenError:
            made = same_body(find_made(service, owner, entry.about.key or ""), entry.about.digest)
            return write() if made is None else _replayed(service, owner, made)
        except GoneError:
            raise network_gone() from None
        return Response(answer, 201, {"Location": _place(entry.id)}, JSON)

    return Unwritten(write)


def _replayed(service: Service, owner: str, made: Made) -> Response:
    return replayed(get_plan(service, owner, made.id), 201, _place(made.id))


def _place(plan_id: str) -> str:
    return f"/v1/plans/{plan_id}"


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
