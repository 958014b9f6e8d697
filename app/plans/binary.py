"""Plans for large networks as .npz archives of plain arrays, in and out. Nothing is ever unpickled.

In: the device columns (`data`, `processing_capacity`, `processing_cost`, `receive_capacity`, `transmit_budget`,
optionally `label_counts`, and `label_epsilon` if these have noise), the link columns (`source`, `target`, `similarity`,
`transmit_cost`) and `parameters`, the bytes (uint8) of a JSON object with the other fields of POST /v1/plans. What
`solver.save_network` writes, plus `parameters`, is such an archive.

Out: `summary`, the bytes of a JSON object; `sampled` and `scores`; for the steps t the rows of `sampled_data` and
`received`; and the transfers of all steps one after the other in `source`, `target`, `fraction`, `datapoints`, those of
step t being offsets[t-1]:offsets[t]. With `orders`, their sends in `order_step`, `order_source`, `order_target`,
`order_first` and `order_count`, sorted by source, step and target. With `dry_run`, `summary` alone, which is the
diagnosis.
"""

import io
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from app.http.answers import encoded
from app.http.gate import Service
from app.http.problems import InvalidRequestError, MalformedError
from app.plans.accounting import counted
from app.plans.answer import BinarySummary, DiagnosisOut
from app.plans.archive import read_arrays
from app.plans.diagnosis import diagnose
from app.plans.planning import PlanQuery, PlanResult, make_plan
from app.plans.request import BinaryParameters
from app.wire.arrays import read_plainly
from app.wire.network import charge_network, checked
from app.wire.pointers import located
from solver import Devices, Links, Network
from solver.interchange import epsilon_of
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["NETWORK_ARRAYS", "NPZ", "answer_binary_plan", "network_of"]

NPZ = "application/vnd.fedsift.npz"
NETWORK_ARRAYS = (*DEVICE_COLUMNS, *LINK_COLUMNS)
_NEEDED = (*NETWORK_ARRAYS, "parameters")
_KNOWN = {*_NEEDED, "label_counts", "label_epsilon"}


def answer_binary_plan(service: Service, _owner: str, body: bytes) -> Response:
    """Read the archive, plan, and answer with an archive."""
    begin = perf_counter()
    arrays = read_arrays(body, _KNOWN, most=len(_KNOWN) + 1)  # `save_network` writes a `format` too
    missing = [name for name in _NEEDED if name not in arrays]
    if missing:
        raise InvalidRequestError.at(f"/{missing[0]}", "is missing")
    if arrays["parameters"].dtype != np.uint8:
        raise MalformedError("the array `parameters` must be of uint8, the bytes of a JSON object")
    parameters = read_plainly(BinaryParameters, arrays["parameters"].tobytes())
    parameters.check_keep()
    query = parameters.query(network_of(arrays), service.settings)
    parsed = perf_counter() - begin
    if parameters.dry_run:
        return Response(_packed(encoded(service, DiagnosisOut.from_domain(diagnose(query)))), media_type=NPZ)
    result = counted(service, make_plan(query), parsed)
    begin = perf_counter()
    archive = _archive(service, query, result)
    service.metrics.stages({"encode": perf_counter() - begin})
    return Response(archive, media_type=NPZ)


def network_of(arrays: dict[str, NDArray[np.generic]]) -> Network:
    """The network of an archive."""
    counts = arrays.get("label_counts")
    charge_network(arrays["data"].size, arrays["source"].size)
    with located({"devices": "", "links": ""}):
        devices = Devices(
            **{name: _numbers(arrays, name) for name in DEVICE_COLUMNS},
            label_counts=None if counts is None else _counts(arrays),
            label_epsilon=epsilon_of(arrays),
        )
        ends = {name: arrays[name] for name in LINK_COLUMNS[:2]}
        weights = {name: _numbers(arrays, name) for name in LINK_COLUMNS[2:]}
        return Network(devices, Links(**ends, **weights))  # type: ignore[arg-type]


def _counts(arrays: dict[str, NDArray[np.generic]]) -> NDArray[np.float64]:
    counts = np.asarray(arrays["label_counts"], np.float64)
    return checked(counts, "/label_counts", signed="label_epsilon" in arrays)


def _numbers(arrays: dict[str, NDArray[np.generic]], name: str) -> NDArray[np.float64]:
    return checked(np.asarray(arrays[name], np.float64), f"/{name}")


def _archive(service: Service, query: PlanQuery, result: PlanResult) -> bytes:
    plan = result.plan
    sizes = [step.source.size for step in plan.steps]
    columns = {
        name: np.concatenate([getattr(step, name) for step in plan.steps])
        for name in ("source", "target", "fraction", "datapoints")
    }
    summary = encoded(service, BinarySummary.from_domain(query, result))
    return _packed(
        summary,
        sampled=plan.sampled,
        scores=np.empty(0) if result.choice is None else result.choice.scores,
        sampled_data=np.stack([step.sampled_data for step in plan.steps]),
        received=np.stack([step.received for step in plan.steps]),
        offsets=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        **columns,
        **_orders(result),
    )


def _orders(result: PlanResult) -> dict[str, NDArray[np.generic]]:
    orders = result.orders
    names = ("step", "source", "target", "first", "count")
    return {} if orders is None else {f"order_{name}": getattr(orders, name) for name in names}


def _packed(summary: bytes, **arrays: NDArray[np.generic]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, summary=np.frombuffer(summary, np.uint8), **arrays)
    return stream.getvalue()
