"""Plans for large networks as .npz archives of plain arrays, in and out. Nothing is ever unpickled.

In: an archive as `app.networks.archived` reads it, whose `parameters` have the other fields of POST /v1/plans.

Out: `summary`, the bytes of a JSON object; `sampled` and `scores`; for the steps t the rows of `sampled_data` and
`received`; and the transfers of all steps one after the other in `source`, `target`, `fraction`, `datapoints`, those of
step t being offsets[t-1]:offsets[t]. With `orders`, their sends in `order_step`, `order_source`, `order_target`,
`order_first` and `order_count`, sorted by source, step and target. With `dry_run`, `summary` alone, which is the
diagnosis. A plan with `keep` is stored as JSON, like any other; the archive is made of that, when it is answered and
when its idempotency key asks for it again.
"""

import io
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from app.http.answers import encoded
from app.http.gate import Service, Unwritten
from app.http.problems import NotFoundError
from app.networks.archived import NPZ, read_archive
from app.plans.accounting import counted
from app.plans.answer import DiagnosisOut, PlanOut, asked_for
from app.plans.binary_answer import BinarySummary
from app.plans.diagnosis import diagnose
from app.plans.keeping import Asked, keep, made_before
from app.plans.planning import PlanResult, make_plan
from app.plans.request import BinaryParameters
from app.plans.store import PlanStore
from app.store.about import About
from app.wire.budget import charge
from app.wire.estimate import JsonSize

__all__ = ["answer_binary_plan"]

_COLUMNS = ("source", "target", "fraction", "datapoints")
_ORDER = ("step", "source", "target", "first", "count")


def answer_binary_plan(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Read the archive, plan, and answer with an archive; a plan that is to be kept has an id."""
    begin = perf_counter()
    given, parameters = read_archive(body, BinaryParameters)
    if parameters.dry_run:
        diagnosis = diagnose(parameters.query_of(given, service.settings))
        return Response(_packed(encoded(service, DiagnosisOut.from_domain(diagnosis))), media_type=NPZ)
    asked = Asked(owner, key, body, "binary plan", _archive_of, _kept_archive)
    if parameters.keep and (answered := made_before(service, asked)):
        return answered
    query = parameters.query_of(given, service.settings)
    parsed = perf_counter() - begin
    result = counted(service, make_plan(query), parsed)
    about = parameters.about(key, asked.digest if parameters.keep else "", asked_for(query))
    if parameters.keep:
        return keep(service, asked, about, parameters.output, result)
    begin = perf_counter()
    archive = _archive(service, about, result)
    service.metrics.stages({"encode": perf_counter() - begin})
    return Response(archive, media_type=NPZ)


def _archive(service: Service, about: About, result: PlanResult) -> bytes:
    plan, orders = result.plan, result.orders
    sizes = [step.source.size for step in plan.steps]
    summary = encoded(service, BinarySummary.from_domain(result, **about.told()))
    return _packed(
        summary,
        sampled=plan.sampled,
        scores=np.empty(0) if result.choice is None else result.choice.scores,
        sampled_data=np.stack([step.sampled_data for step in plan.steps]),
        received=np.stack([step.received for step in plan.steps]),
        offsets=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        **{name: np.concatenate([getattr(step, name) for step in plan.steps]) for name in _COLUMNS},
        **({} if orders is None else {f"order_{name}": getattr(orders, name) for name in _ORDER}),
    )


def _kept_archive(service: Service, owner: str, plan_id: str) -> Response:
    found = PlanStore(service.store).find(owner, plan_id)
    if found is None:
        raise NotFoundError("you have kept no plan of this id")
    return _archive_of(service, found.answer)


def _archive_of(service: Service, answer: bytes) -> Response:
    """The archive that says what this JSON says."""
    size = JsonSize.of(answer)
    charge(size.as_objects(), f"an archive of JSON with {size.values} values")
    plan = PlanOut.model_validate_json(answer)
    moved = [step.transfers for step in plan.steps if step.transfers is not None]
    arrays: dict[str, NDArray[np.generic]] = {
        name: np.array([value for one in moved for value in getattr(one, name)], kind)
        for name, kind in zip(_COLUMNS, (np.int64, np.int64, np.float64, np.float64), strict=True)
    }
    if plan.orders is not None:
        rows = [(s.step, one.device, s.to, s.first, s.count) for one in plan.orders for s in one.sends]
        columns = np.array(rows, np.int64).reshape(-1, len(_ORDER)).T
        arrays |= {f"order_{name}": column for name, column in zip(_ORDER, columns, strict=True)}
    archive = _packed(
        encoded(service, BinarySummary.model_validate_json(answer)),
        sampled=np.array(plan.sampled, np.int64),
        scores=np.array(plan.scores, np.float64),
        sampled_data=np.array([step.sampled_data for step in plan.steps], np.float64),
        received=np.array([step.received for step in plan.steps], np.float64),
        offsets=np.cumsum([0, *(len(one.source) for one in moved)], dtype=np.int64),
        **arrays,
    )
    return Response(archive, media_type=NPZ)


def _packed(summary: bytes, **arrays: NDArray[np.generic]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, summary=np.frombuffer(summary, np.uint8), **arrays)
    return stream.getvalue()
