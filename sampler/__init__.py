"""Samplers: which few devices should train."""

from sampler.base import Sampler, SamplingProblem, Selection
from sampler.errors import SamplingError, TooFewDevicesError, UnknownSamplerError
from sampler.registry import DEFAULT_SAMPLER, find_sampler, register_sampler, sampler_names

__all__ = [
    "DEFAULT_SAMPLER",
    "Sampler",
    "SamplingError",
    "SamplingProblem",
    "Selection",
    "TooFewDevicesError",
    "UnknownSamplerError",
    "find_sampler",
    "register_sampler",
    "sampler_names",
]
