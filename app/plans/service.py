"""The work behind /v1/plans: from bytes to an answer."""

from functools import partial
from time import perf_counter

from starlette.responses import Response

from app.http.answers import encoded, new_id
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import NotFoundError
from app.http.room import check_room
from app.http.unread import stored_answer
from app.plans.accounting import counted
from app.plans.answer import DiagnosisOut, PlanOut
from app.plans.diagnosis import diagnose
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.plans.store import KeptPlan, PlanStore
from app.wire.arrays import read_model

__all__ = ["answer_plan", "delete_plan", "get_plan"]


def answer_plan(service: Service, owner: str, body: bytes) -> Response | Unwritten:
    """Parse, plan (or only diagnose), encode."""
    begin = perf_counter()
    request = read_model(PlanRequest, body)
    query = request.to_domain(service.settings)
    parsed = perf_counter() - begin
    if request.dry_run:
        return Response(encoded(service, DiagnosisOut.from_domain(diagnose(query))), media_type=JSON)
    result = counted(service, make_plan(query), parsed)
    plan_id = new_id("plan")
    answer = encoded(service, PlanOut.from_domain(plan_id, result, request.output))
    response = Response(answer, media_type=JSON)
    if not request.keep:
        return response
    limit = service.settings.key_bytes
    keep = PlanStore(service.store).adding(plan_id, owner, KeptPlan(body, answer), most_bytes=limit)

    def write() -> Response:
        check_room(service, owner)
        keep()
        return response

    return Unwritten(write)


def get_plan(service: Service, owner: str, plan_id: str) -> Response:
    """A kept plan once more, byte for byte."""
    answer = stored_answer(service.unread, partial(PlanStore(service.store).packed_answer, owner, plan_id))
    if answer is None:
        raise _not_found()
    return answer


def delete_plan(service: Service, owner: str, plan_id: str) -> None:
    """Forget a kept plan."""
    if not PlanStore(service.store).delete(owner, plan_id):
        raise _not_found()


def _not_found() -> NotFoundError:
    return NotFoundError("you have kept no plan of this id")
