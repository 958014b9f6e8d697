"""Samplers: which few devices should train."""

from sampler.base import Sampler, SamplingProblem, Selection
from sampler.errors import (
    MissingLabelsError,
    SamplingError,
    TooFewDevicesError,
    TooManySetsError,
    TooMuchWorkError,
    UnknownSamplerError,
    WeightsError,
)
from sampler.objectives import DEFAULT_OBJECTIVE, find_objective, objective_names
from sampler.registry import DEFAULT_SAMPLER, find_sampler, register_sampler, sampler_names
from sampler.trace import Pick

__all__ = [
    "DEFAULT_OBJECTIVE",
    "DEFAULT_SAMPLER",
    "MissingLabelsError",
    "Pick",
    "Sampler",
    "SamplingError",
    "SamplingProblem",
    "Selection",
    "TooFewDevicesError",
    "TooManySetsError",
    "TooMuchWorkError",
    "UnknownSamplerError",
    "WeightsError",
    "find_objective",
    "find_sampler",
    "objective_names",
    "register_sampler",
    "sampler_names",
]
