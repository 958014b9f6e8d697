"""A plan's time by stage, in its answer and in the metrics."""

import math
from dataclasses import replace

from app.http.gate import Service
from app.http.problems import InvalidRequestError
from app.plans.planning import PlanResult

__all__ = ["counted"]


def counted(service: Service, result: PlanResult, parsed: float) -> PlanResult:
    """The result with the seconds of parsing added, once it is counted in the metrics.

    Raises:
        InvalidRequestError: the objective or its gap is not a finite number.
    """
    plan = result.plan
    objective, gap = plan.objective, plan.relative_gap
    if objective is None or gap is None or not math.isfinite(objective + gap):
        raise InvalidRequestError.at("/network", "its numbers are too far apart to compute with")
    result = replace(result, seconds={"parse": parsed, **result.seconds})
    service.metrics.stages(result.seconds)
    service.metrics.plan(plan.status.value, gap)
    return result
