"""Objectives: small pure classes that give a set of devices a value."""

from sampler.objectives.base import Factory, Objective
from sampler.objectives.registry import DEFAULT_OBJECTIVE, SERVED_OBJECTIVES, find_objective, objective_names

__all__ = ["DEFAULT_OBJECTIVE", "SERVED_OBJECTIVES", "Factory", "Objective", "find_objective", "objective_names"]
