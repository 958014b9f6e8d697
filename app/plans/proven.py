"""What is proven of a plan, as it is answered."""

import logging

from solver import FalseProofError, Plan, proven_gap

__all__ = ["proven"]

_log = logging.getLogger("fedsift")


def proven(plan: Plan, bound: float) -> tuple[float, float]:
    """A bound on the objective of plans like this one, and the gap between both.

    A bound above the objective is a fault of ours. The plan is still valid, so it is answered, but nothing is proven of
    it then: no objective is below 0. The logs have the numbers.
    """
    if plan.objective is None:
        return bound, 0.0
    try:
        return bound, proven_gap(plan.objective, bound, plan.max_violation or 0.0)
    except FalseProofError:
        sampled = plan.sampled.tolist()
        _log.exception("false proof: planning %s, transfer %s, sampled %s", plan.planning, plan.transfer, sampled)
        return 0.0, 1.0
