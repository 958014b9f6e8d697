"""The work behind POST /v1/plans: from bytes to an answer, in a thread of the pool."""

import math
import secrets
from time import perf_counter

from pydantic import BaseModel
from starlette.responses import Response

from app.http.gate import JSON, Service
from app.http.problems import InvalidRequestError, NotFoundError
from app.plans.diagnosis import diagnose
from app.plans.diagnosis_answer import DiagnosisOut
from app.plans.planning import PlanResult, make_plan
from app.plans.request import PlanOut, PlanRequest
from app.plans.store import KeptPlan, PlanStore
from app.wire.arrays import read_model

__all__ = ["answer_plan", "counted", "delete_plan", "encoded", "get_plan", "new_id"]


def new_id(kind: str) -> str:
    """An id nobody can guess: 128 random bits."""
    return f"{kind}_{secrets.token_hex(16)}"


def answer_plan(service: Service, owner: str, body: bytes) -> Response:
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
    if request.keep:
        PlanStore(service.store).add(plan_id, owner, KeptPlan(body, answer), most=service.settings.plans_kept)
    return Response(answer, media_type=JSON)


def get_plan(service: Service, owner: str, plan_id: str) -> Response:
    """A kept plan once more, byte for byte."""
    kept = PlanStore(service.store).find(owner, plan_id)
    if kept is None:
        raise NotFoundError("you have kept no plan of this id")
    return Response(kept.answer, media_type=JSON)


def delete_plan(service: Service, owner: str, plan_id: str) -> None:
    """Forget a kept plan."""
    if not PlanStore(service.store).delete(owner, plan_id):
        raise NotFoundError("you have kept no plan of this id")


def counted(service: Service, result: PlanResult, parsed: float) -> PlanResult:
    """The result with the time of parsing, and counted in the metrics."""
    plan = result.plan
    objective, gap = plan.objective, plan.relative_gap
    if objective is None or gap is None or not math.isfinite(objective + gap):
        raise InvalidRequestError.at("/network", "its numbers are too far apart to compute with")
    result = PlanResult(plan, result.state, result.scores, {"parse": parsed, **result.seconds}, result.trace)
    service.metrics.stages(result.seconds)
    service.metrics.plan(plan.status.value, gap)
    return result


def encoded(service: Service, answer: BaseModel) -> bytes:
    """The answer as JSON; absent fields are left out."""
    begin = perf_counter()
    text = answer.__pydantic_serializer__.to_json(answer, exclude_none=True)
    service.metrics.stages({"encode": perf_counter() - begin})
    return text
