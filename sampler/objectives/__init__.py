"""Stated objectives: what a good set of devices is, as small pure classes."""

from sampler.objectives.base import Factory, Objective
from sampler.objectives.registry import DEFAULT_OBJECTIVE, SERVED_OBJECTIVES, find_objective, objective_names

__all__ = ["DEFAULT_OBJECTIVE", "SERVED_OBJECTIVES", "Factory", "Objective", "find_objective", "objective_names"]
