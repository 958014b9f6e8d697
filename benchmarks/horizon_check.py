"""`python -m benchmarks.horizon_check`: plans of whole horizons against CVXPY's joint optimum, on seeded horizons.

Of every plan it checks that the objective is within 1e-6 of the optimum, that no constraint is broken by more than
1e-8 (recomputed from the transfers), and that no bound is above the optimum, those of step-by-step plans included. It
counts the instances on which Clarabel itself stops short of its tolerance of 1e-11. The last line is one JSON object;
the exit code is 1 if a check fails.
"""

import argparse
import json
import sys
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from solver import TRANSFERS, advance, start
from solver.instances import random_horizon
from solver.whole.reference_horizon import solve_jointly, worst_breach

__all__ = ["Checked", "check"]

_CLOSE = 1e-6
_FEASIBLE = 1e-8


@dataclass(frozen=True)
class Checked:
    """One instance, relative to the optimum: differences of objective, certified gap, bounds; and the worst breach."""

    seed: int
    status: str
    difference: float
    gap: float
    bound_above: float
    breach: float
    step_difference: float

    @property
    def passed(self) -> bool:
        """Whether all checks hold."""
        return self.difference <= _CLOSE and self.bound_above <= _CLOSE and self.breach <= _FEASIBLE


def check(seed: int) -> Checked:
    """Plan the horizon of this seed and compare it with CVXPY."""
    schedule, sampled, norms, noise = random_horizon(np.random.default_rng(seed))
    state = start(schedule, sampled)
    optimum = solve_jointly(schedule, state, norms, gradient_noise=noise)
    steps = [
        advance(schedule, state, norms, gradient_noise=noise, horizon=norms.size, transfer=kind) for kind in TRANSFERS
    ]
    whole = advance(
        schedule, state, norms, gradient_noise=noise, horizon=norms.size, transfer="send_once", planning="horizon"
    )
    scale = max(optimum.objective, 1e-300)
    reached = [float(np.mean([step.objective for step in plan.steps])) for plan in (whole, *steps)]
    bounds = [plan.bound for plan in (whole, *steps) if plan.bound is not None]
    return Checked(
        seed,
        optimum.status,
        (reached[0] - optimum.objective) / scale,
        (reached[0] - bounds[0]) / scale,
        max(bound - optimum.objective for bound in bounds) / scale,
        worst_breach(schedule, state, whole.steps),
        (min(reached[1:]) - optimum.objective) / scale,
    )


def main() -> int:
    """Check, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    # CVXPY warns where Clarabel stops short of its tolerance; they are counted.
    warnings.simplefilter("ignore", UserWarning)
    rows = [check(seed) for seed in range(given.first, given.first + given.instances)]
    failed = [row for row in rows if not row.passed]
    for row in failed:
        print(json.dumps(asdict(row)))
    report = {
        "instances": len(rows),
        "clarabel_inaccurate": sum(row.status != "optimal" for row in rows),
        "failed": len(failed),
        "certified_optimal": sum(row.gap <= _CLOSE for row in rows),
        "worst_difference": max(row.difference for row in rows),
        "worst_gap": max(row.gap for row in rows),
        "highest_bound": max(row.bound_above for row in rows),
        "worst_breach": max(row.breach for row in rows),
        "worst_step_by_step": max(row.step_difference for row in rows),
    }
    print(json.dumps(report))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
