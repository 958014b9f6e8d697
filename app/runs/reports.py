"""What an aggregation reports of devices and transfers, applied to what a run carries."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InvalidRequestError
from app.plans.planning import PlanQuery
from app.plans.request import named_devices
from app.runs.carried import Carried
from app.runs.request import AggregationRequest
from solver.horizon.membership import NOBODY, with_changed_data, without_arrivals

__all__ = ["Report", "reported"]


@dataclass(frozen=True, eq=False)
class Report:
    """What the run carries after the report; those in `gone` have lost what they had received."""

    carried: Carried
    gone: NDArray[np.int64]


def reported(
    carried: Carried, request: AggregationRequest, query: PlanQuery, data_before: NDArray[np.float64]
) -> Report:
    """Take what did not arrive from its receivers, note whose own data changed, who is lost, and then who is back.

    `query` has the conditions from now on, `data_before` is the own data of devices before the report.

    Raises:
        InvalidRequestError: the report names devices or pairs that it cannot mean.
    """
    n, ids = len(query.schedule.network), query.ids
    state = carried.horizon
    if request.delivered is not None:
        if carried.moved is None:
            raise InvalidRequestError.at("/delivered", "is not known of a period that an earlier release planned")
        state = without_arrivals(state, carried.moved, request.delivered.missing(carried.moved, n, ids))
    data = query.schedule.network.devices.data
    if not np.array_equal(data[: data_before.size], data_before):
        state = with_changed_data(state, data_before, data)
    gone = named_devices(request, "lost", n, ids)
    back = named_devices(request, "joined", n, ids)
    gone = NOBODY if gone is None else gone
    lost = (carried.lost | set(gone.tolist())) - set(() if back is None else back.tolist())
    told = {} if request.gradient_norms is None else request.gradient_norms.by_device(n, ids)
    norms = {device: norm for device, norm in (carried.norms | told).items() if device not in lost}
    return Report(replace(carried, horizon=state, lost=frozenset(lost), norms=dict(sorted(norms.items()))), gone)
