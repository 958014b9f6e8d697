import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.factory import make_engine
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.first_round import first_model, observe_devices
from fedl_sim.loop.loop import RunSettings, run_scheme
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.randomness import stream
from fedl_sim.simulate.sweep import ExperimentSettings, simulate
from sampler import registry
from sampler.base import SamplingProblem, Selection
from sampler.rivals.model_based import RIVALS
from sampler.schemes import Scheme
from solver.network.schedule import Schedule

NETWORK = RealisationSettings(n_devices=30, mean_datapoints=40)


def test_devices_report_what_they_measure_after_a_first_round() -> None:
    data = load_data_set("digits")
    engine = make_engine("compiled", "softmax", data)
    drawn = realise(NETWORK, data, 0)
    problem = SamplingProblem.of(Schedule.of(drawn.network), 4, horizon=10)
    training = TrainingSettings(learning_rate=0.05)
    first, same, other = (first_model(problem, drawn, engine, training, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    seen = observe_devices(drawn, engine, first)
    for device in (0, 17):
        moments = engine.gradient(first, drawn.partition.of(device))
        assert seen.loss[device] == moments.loss
        np.testing.assert_array_equal(seen.gradient[device], moments.gradient)
    # Those whose labels were trained on lose less.
    assert seen.loss.std() > 0.1


def test_every_rival_makes_a_scheme() -> None:
    settings = ExperimentSettings(
        realisation=NETWORK,
        run=RunSettings(sample_size=4, aggregations=1, training=TrainingSettings(aggregation_period=2)),
        schemes=tuple(f"{name}+fast" for name in RIVALS),
    )
    runs = simulate(settings).runs
    assert [run.scheme for run in runs] == [f"{name}+fast" for name in RIVALS]
    assert all(len(set(run.sampled)) == 4 for run in runs)
    assert simulate(settings).runs == runs


def test_samplers_see_the_gradient_that_random_devices_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[SamplingProblem] = []

    def first_devices(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        seen.append(problem)
        # The devices that measured, so that the run's own first observation is what the sampler saw.
        chosen = stream(3, "first round").choice(problem.candidates, problem.sample_size, replace=False)
        return Selection(chosen, np.zeros(len(chosen)))

    monkeypatch.setattr(registry, "_FOR_STUDIES", dict(registry._FOR_STUDIES))
    registry.register_sampler("first_devices", first_devices)
    data = load_data_set("digits")
    drawn = realise(NETWORK, data, 3)
    engine = make_engine("compiled", "softmax", data)
    settings = RunSettings(sample_size=4, aggregations=1, training=TrainingSettings(aggregation_period=1))
    run = run_scheme(Scheme("mine", "first_devices"), drawn, data, engine, settings, seed=3)
    (problem,) = seen
    assert problem.gradient.norm == pytest.approx(run.aggregations[0].gradient_norm)
    assert problem.gradient_noise == pytest.approx(run.aggregations[0].gradient_noise)
    assert problem.gradient_noise > 2
