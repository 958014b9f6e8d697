"""Samplers: which few devices should train."""

from sampler.base import Sampler, SamplingProblem, Selection
from sampler.errors import SamplingError, TooFewDevicesError, UnknownSamplerError, WeightsError
from sampler.registry import DEFAULT_SAMPLER, find_sampler, register_sampler, sampler_names
from sampler.trace import Pick

__all__ = [
    "DEFAULT_SAMPLER",
    "Pick",
    "Sampler",
    "SamplingError",
    "SamplingProblem",
    "Selection",
    "TooFewDevicesError",
    "UnknownSamplerError",
    "WeightsError",
    "find_sampler",
    "register_sampler",
    "sampler_names",
]
