"""/v1/runs/{id}/aggregations/{k}/orders: what devices send in a period of a run."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.http.described import NO_KEY, NO_STORE, problems
from app.http.gate import Service, look_up
from app.http.problems import NotFoundError
from app.http.security import Owner
from app.plans.orders import OrderList, Whose, WhoseAsked, device_orders
from app.runs.router import Number, RunId
from app.runs.service import find_run
from app.runs.store import RunStore
from app.wire.parameters import KNOWN_PARAMETERS, STRANGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/runs", tags=["runs"], dependencies=KNOWN_PARAMETERS)

_NO_RUN = NotFoundError("you have no run of this id")


@router.get(
    "/{run_id}/aggregations/{aggregation}/orders",
    operation_id="getAggregationOrders",
    summary="What devices send in a period of a run",
    response_model=OrderList,
    responses=problems(NO_KEY, _NO_RUN, STRANGE, NO_STORE),
)
async def get_orders(request: Request, owner: Owner, run_id: RunId, aggregation: Number, whose: WhoseAsked) -> Response:
    """The orders of a run that was asked for with `orders`, of all devices or of one."""
    return await look_up(request, _orders, owner, run_id, aggregation, whose)


def _orders(service: Service, owner: str, run_id: str, aggregation: int, whose: Whose) -> Response:
    find_run(service, owner, run_id)
    packed = partial(RunStore(service.store).packed_answer, run_id, aggregation)
    answer = device_orders(service, packed, whose)
    if answer is None:
        raise NotFoundError("this aggregation has not been answered")
    return answer
