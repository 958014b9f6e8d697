"""The offloading solver: it plans the offloading for a network and a sampled set, and certifies each step.

    network = Network(Devices(...), Links(...))
    plan = plan_offloading(network, sampled=[4, 17, 3], horizon=75)
    plan.objective, plan.relative_gap, plan.max_violation, plan.steps[0].fraction

In a closed loop, call `start` once and then `advance` for each aggregation period, with the gradient norms that a
`GradientModel` predicts from the observed ones.
"""

from solver.bound import ConvergenceBound, LossConstants, convergence_bound
from solver.errors import FalseProofError, FedsiftError, InvalidInputError, MissingExtraError
from solver.horizon.batch import SetPlans, plan_sets
from solver.horizon.gradient import GradientModel, observed_decay
from solver.horizon.plan import Plan, StepPlan
from solver.horizon.sequence import METHODS, PLANNINGS, Period, advance, plan_offloading, step_problem
from solver.horizon.state import HorizonState, start
from solver.horizon.transfer import DEFAULT_TRANSFER, TRANSFERS
from solver.horizon.weights import Weights
from solver.network import Devices, Links, Network
from solver.network.eligibility import Obstacle, eligible_devices, obstacles
from solver.network.fleet import Fleet
from solver.network.interchange import from_networkx, load_network, save_network, to_networkx
from solver.network.schedule import Change, Schedule
from solver.step.fast import solve_fast, solve_many
from solver.step.problem import StepProblem
from solver.step.solution import OPTIMALITY_GAP, Status, StepSolution, certified, proven_gap

__all__ = [
    "DEFAULT_TRANSFER",
    "METHODS",
    "OPTIMALITY_GAP",
    "PLANNINGS",
    "TRANSFERS",
    "Change",
    "ConvergenceBound",
    "Devices",
    "FalseProofError",
    "FedsiftError",
    "Fleet",
    "GradientModel",
    "HorizonState",
    "InvalidInputError",
    "Links",
    "LossConstants",
    "MissingExtraError",
    "Network",
    "Obstacle",
    "Period",
    "Plan",
    "Schedule",
    "SetPlans",
    "Status",
    "StepPlan",
    "StepProblem",
    "StepSolution",
    "Weights",
    "advance",
    "certified",
    "convergence_bound",
    "eligible_devices",
    "from_networkx",
    "load_network",
    "observed_decay",
    "obstacles",
    "plan_offloading",
    "plan_sets",
    "proven_gap",
    "save_network",
    "solve_fast",
    "solve_many",
    "start",
    "step_problem",
    "to_networkx",
]
