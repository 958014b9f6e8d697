"""What is measured before the devices of a run are sampled.

S random devices report the gradient of w(0) on their data: the first estimate of ‖∇F̄‖ and γ, which eq. (26) needs.

For the rival samplers that choose devices by their losses or gradients, these devices also train for one aggregation,
as in the first round of a deployment. Every device then reports the loss and the gradient of that model on its initial
data, and the sampler chooses by these reports.
"""

from dataclasses import replace

import numpy as np

from fedl_sim.engines.base import Engine
from fedl_sim.engines.models import FloatArray
from fedl_sim.loop.devices import TrainingSettings, local_steps
from fedl_sim.loop.server import aggregate, last_of_each, observe
from fedl_sim.network.realisation import Realisation
from fedl_sim.randomness import stream
from sampler.base import SamplingProblem, Selection
from sampler.rivals.model_based import RIVALS, Observations
from solver.horizon.gradient import GradientModel

__all__ = ["first_model", "observe_devices", "sample_by_rival", "with_gradient"]


def with_gradient(problem: SamplingProblem, realisation: Realisation, engine: Engine, *, seed: int) -> SamplingProblem:
    """Return the problem with ‖∇F̄(0)‖ and γ as S random devices measure them at w(0)."""
    data = [realisation.partition.of(device) for device in _first_devices(problem, seed)]
    seen = observe(engine, engine.initial_parameters(stream(seed, "parameters")), data)
    return replace(problem, gradient=GradientModel(seen.gradient_norm), gradient_noise=seen.gradient_noise)


def sample_by_rival(
    name: str,
    problem: SamplingProblem,
    realisation: Realisation,
    engine: Engine,
    training: TrainingSettings,
    *,
    seed: int,
    generator: np.random.Generator,
) -> Selection:
    """Choose devices as the rival of that name does, by what they report after a first round."""
    parameters = first_model(problem, realisation, engine, training, seed=seed)
    return RIVALS[name](problem, observe_devices(realisation, engine, parameters), generator)


def first_model(
    problem: SamplingProblem, realisation: Realisation, engine: Engine, training: TrainingSettings, *, seed: int
) -> FloatArray:
    """Return w(τ) of S random devices that train on their own data."""
    w = engine.initial_parameters(stream(seed, "parameters"))
    jobs = [
        local_steps(
            engine,
            w,
            device,
            [(t, realisation.partition.of(device)) for t in range(1, training.aggregation_period + 1)],
            training,
            seed=seed,
            purpose="first round",
        )
        for device in _first_devices(problem, seed)
    ]
    return aggregate(last_of_each(jobs, 1))


def observe_devices(realisation: Realisation, engine: Engine, parameters: FloatArray) -> Observations:
    """Measure every device's loss and gradient on the data it starts with; one without data reports zeros."""
    partition = realisation.partition
    n, width = partition.n_devices, engine.parameter_count
    loss, square, gradient = np.zeros(n), np.zeros(n), np.zeros((n, width))
    for device in np.flatnonzero(partition.sizes):
        moments = engine.gradient(parameters, partition.of(int(device)))
        loss[device], square[device] = moments.loss, moments.mean_square_norm
        gradient[device] = moments.gradient
    return Observations(loss, square, gradient)


def _first_devices(problem: SamplingProblem, seed: int) -> list[int]:
    chosen = stream(seed, "first round").choice(problem.candidates, problem.sample_size, replace=False)
    return [int(device) for device in chosen]
