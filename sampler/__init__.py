"""Samplers choose the few devices that train."""

from sampler.base import Sampler, SamplingProblem, Selection
from sampler.errors import (
    DuplicateSamplerError,
    MissingLabelsError,
    SamplingError,
    TooFewDevicesError,
    TooManySetsError,
    TooMuchWorkError,
    UnknownSamplerError,
    UnknownSchemeError,
    WeightsError,
)
from sampler.objectives import DEFAULT_OBJECTIVE, SERVED_OBJECTIVES, find_objective, objective_names
from sampler.registry import (
    DEFAULT_SAMPLER,
    find_sampler,
    objective_of,
    register_sampler,
    sampler_names,
    served_samplers,
)
from sampler.schemes import Scheme, find_scheme, scheme_names
from sampler.trace import Pick

__all__ = [
    "DEFAULT_OBJECTIVE",
    "DEFAULT_SAMPLER",
    "SERVED_OBJECTIVES",
    "DuplicateSamplerError",
    "MissingLabelsError",
    "Pick",
    "Sampler",
    "SamplingError",
    "SamplingProblem",
    "Scheme",
    "Selection",
    "TooFewDevicesError",
    "TooManySetsError",
    "TooMuchWorkError",
    "UnknownSamplerError",
    "UnknownSchemeError",
    "WeightsError",
    "find_objective",
    "find_sampler",
    "find_scheme",
    "objective_names",
    "objective_of",
    "register_sampler",
    "sampler_names",
    "scheme_names",
    "served_samplers",
]
