"""Whole experiments on digits: what the simulator must show, within a minute."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.factory import make_engine
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.loop import RunSettings, run_scheme, sample_devices
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.simulate.sweep import ExperimentSettings, Job, experiment_document, jobs_of, simulate
from sampler.errors import UnknownSchemeError
from sampler.schemes import find_scheme
from solver.arrays import FloatArray
from solver.horizon.sequence import Period, advance
from solver.horizon.state import HorizonState
from solver.network import Network

NETWORK = RealisationSettings(n_devices=30, mean_datapoints=40)
SHORT = RunSettings(sample_size=4, aggregations=2, training=TrainingSettings(aggregation_period=2))


def small(**changes: object) -> ExperimentSettings:
    values: dict[str, object] = {"realisation": NETWORK, "run": SHORT, "schemes": ("ours-offload", "random")}
    return ExperimentSettings(**(values | changes))  # type: ignore[arg-type]


def test_ours_with_offloading_beats_random_without() -> None:
    """On tight budgets too, where little data moves; over three networks, by more than their spread."""
    run = RunSettings(sample_size=5, aggregations=10)
    for budget in ("loose", "tight"):
        network = RealisationSettings(n_devices=40, mean_datapoints=60, budget=budget)
        settings = ExperimentSettings(realisation=network, run=run, schemes=("ours-offload", "random"), seeds=(0, 1, 2))
        ours, chance = simulate(settings).summaries
        assert ours.accuracy[-1] > chance.accuracy[-1] + 0.1
        assert min(ours.accuracy[5:]) > max(chance.accuracy[5:])


def test_arrived_data_agrees_with_the_plan_over_seeds() -> None:
    """z-test over realisations: plans predict from a broadcast sample, data arrives by the real similarity.

    Random offloading does not look at the estimate when it chooses links, so prediction errors have mean
    zero; optimised offloading prefers links whose similarity was underestimated, so it may expect a little
    too much, but no more than a few percent.
    """
    data = load_data_set("digits")
    engine = make_engine("compiled", "softmax", data)
    settings = RunSettings(sample_size=4, aggregations=2, training=TrainingSettings(aggregation_period=3))
    for name, bias in (("random-offload", 0.0), ("ours-offload", 0.04)):
        errors, predicted = [], []
        for seed in range(30):
            network = realise(
                RealisationSettings(n_devices=25, mean_datapoints=60, similarity_quantile=0.2, broadcast_size=20),
                data,
                seed,
            )
            last = run_scheme(find_scheme(name), network, data, engine, settings, seed=seed).aggregations[-1]
            errors.append(last.useful - last.predicted_useful)
            predicted.append(last.predicted_useful)
        standard_error = np.std(errors) / np.sqrt(len(errors))
        assert np.mean(predicted) > 50
        # The test must be able to see an error of five percent.
        assert standard_error < 0.05 * np.mean(predicted)
        assert abs(np.mean(errors)) < 3 * standard_error + bias * np.mean(predicted)


def test_the_same_seed_gives_the_same_result_whatever_the_processes_and_threads() -> None:
    documents = []
    for processes, threads in ((1, 1), (2, 1), (1, 3)):
        run = RunSettings(4, 2, SHORT.training, threads=threads)
        documents.append(json.dumps(experiment_document(simulate(small(run=run), processes=processes))))
    assert documents[0] == documents[1] == documents[2]


def test_one_method_under_two_names_gives_one_curve_bit_for_bit() -> None:
    names = ("ours-offload", "greedy+fast", "smart-offload", "gcn_branch+fast", "random-offload", "random+random")
    runs = simulate(small(schemes=names, seeds=(0, 1))).runs
    curves = {(run.scheme, run.seed, run.draw): (run.sampled, run.aggregations) for run in runs}
    for one, other in zip(names[::2], names[1::2], strict=True):
        for (name, seed, draw), curve in curves.items():
            if name == one:
                assert curve == curves[other, seed, draw]


def test_every_device_takes_as_many_batches_in_the_fair_setting() -> None:
    fair = replace(SHORT, training=replace(SHORT.training, equal_batches=True))
    ours, all_nodes = simulate(small(schemes=("ours-offload", "all"), run=fair)).runs
    each = 10 * round(sum(d.data for d in all_nodes.devices) / len(all_nodes.devices) / 10)
    for run in (ours, all_nodes):
        assert {device.processed for device in run.devices} == {4 * each}
        assert run.aggregations[-1].processed == 4 * each * len(run.devices)
    assert sum(device.received for device in ours.devices) > 0


def test_other_random_numbers_on_the_same_networks() -> None:
    one, other = (simulate(small(schemes=("ours-offload",), luck=luck)).runs[0] for luck in (0, 1))
    assert (one.seed, one.sampled) == (other.seed, other.sampled)
    assert one.aggregations != other.aggregations


def test_the_same_devices_are_lost_with_other_random_numbers() -> None:
    churn = Churn(loss=0.4)
    one, other = (
        simulate(small(schemes=("ours-offload",), churn=churn, policy="fixed", luck=luck)).runs[0] for luck in (0, 1)
    )
    assert any(period.lost for period in one.periods)
    assert one.periods == other.periods
    assert one.aggregations != other.aggregations


def test_another_seed_gives_another_result() -> None:
    one, other = (simulate(small(seeds=(seed,))).runs for seed in (0, 1))
    assert one[0].aggregations != other[0].aggregations


def test_everybody_trains_on_their_own_data() -> None:
    run = simulate(small(schemes=("all",))).runs[0]
    assert run.sampled == tuple(range(30))
    last = run.aggregations[-1]
    held = sum(device.data for device in run.devices)
    assert (last.processed, last.moved, last.useful) == (4 * held, 0, 0)
    assert sum(device.processed for device in run.devices) == last.processed


def test_the_counts_of_a_run_fit_together() -> None:
    run = simulate(small(schemes=("ours-offload",))).runs[0]
    assert len(run.aggregations) == 3
    assert run.aggregations[0].processed == 0
    last = run.aggregations[-1]
    assert last.useful == sum(device.received for device in run.devices) > 0
    # Some of what was sent was covered already, and dropped.
    assert last.moved > last.useful
    assert last.processed == sum(device.processed for device in run.devices)
    assert 0 < run.worst_relative_gap <= 1e-6
    network = realise(NETWORK, load_data_set("digits"), 0).network
    cost = sum(network.devices.processing_cost[d.device] * d.processed for d in run.devices)
    # The rest is Σ ψ·moved, and ψ ≥ 12/9.
    assert last.cost - cost >= 12 / 9 * last.moved - 1e-6


def test_the_plan_listens_to_what_aggregations_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[float]] = []
    noises: list[float] = []

    def listening(network: Network, state: HorizonState, norms: FloatArray, **options: Any) -> Period:
        asked.append(norms.tolist())
        noises.append(options["gradient_noise"])
        return advance(network, state, norms, **options)

    monkeypatch.setattr("fedl_sim.loop.planner.advance", listening)
    run = simulate(small(schemes=("ours-offload",))).runs[0]
    first, second = run.aggregations[0], run.aggregations[1]
    assert asked[0] == pytest.approx([first.gradient_norm] * 2)
    # α₂ = (‖∇F̄(0)‖ / ‖∇F̄(τ)‖)^(1/τ), at least 1 (Sec. III-C).
    decay = max(1.0, (first.gradient_norm / second.gradient_norm) ** 0.5)
    assert asked[1] == pytest.approx([second.gradient_norm / decay, second.gradient_norm / decay**2])
    assert noises == [first.gradient_noise, second.gradient_noise]


def test_the_torch_engine_runs_the_same_experiment() -> None:
    """The same masks and batches: the two engines' curves agree to rounding."""
    network = RealisationSettings(12, mean_datapoints=20)
    # Threads, since the torch engine has one module for all of them.
    one = small(schemes=("ours-offload",), model="mlp", realisation=network, run=replace(SHORT, threads=3))
    compiled, reference = (simulate(replace(one, engine=e)).runs[0] for e in ("compiled", "torch"))
    for ours, theirs in zip(compiled.aggregations, reference.aggregations, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-3)
        assert (ours.moved, ours.useful) == (theirs.moved, theirs.useful)


class TestSchemes:
    def test_random_draws_differ_and_are_shared_with_and_without_offloading(self) -> None:
        data = load_data_set("digits")
        drawn = realise(NETWORK, data, 0)
        engine = make_engine("compiled", "softmax", data)
        chosen = {
            (name, draw): tuple(sample_devices(find_scheme(name), drawn, engine, SHORT, seed=0, draw=draw))
            for name in ("random", "random-offload")
            for draw in range(5)
        }
        assert len(set(chosen.values())) == 5
        assert all(chosen["random", d] == chosen["random-offload", d] for d in range(5))

    @pytest.mark.parametrize("name", ["random", "heuristic", "oort", "power_of_choice"])
    def test_luck_changes_training_but_not_who_is_drawn(self, name: str) -> None:
        one, other = (simulate(small(schemes=(name,), luck=luck)).runs[0] for luck in (0, 1))
        assert one.sampled == other.sampled
        assert one.aggregations[-1].loss != other.aggregations[-1].loss

    def test_a_sampler_under_two_names_breaks_ties_alike(self) -> None:
        # With one label each, many devices are worth the same.
        network = replace(NETWORK, labels_per_device=1)
        for seed in range(3):
            runs = simulate(small(schemes=("ours", "greedy:balance"), realisation=network, seeds=(seed,))).runs
            assert runs[0].sampled == runs[1].sampled


class TestSettings:
    def test_jobs_are_seeds_by_schemes_by_draws(self) -> None:
        assert jobs_of(small(seeds=(3, 4), schemes=("ours", "random")))[:3] == (
            Job(3, "ours", 0),
            Job(3, "random", 0),
            Job(3, "random", 1),
        )

    def test_the_model_follows_the_data_set(self) -> None:
        assert small().model_name == "softmax"
        assert small(data_set="mnist").model_name == "cnn"
        assert small(model="mlp").model_name == "mlp"

    @pytest.mark.parametrize(
        "changes", [{"schemes": ()}, {"seeds": ()}, {"seeds": (1, 1)}, {"schemes": ("all", "all")}]
    )
    def test_impossible_settings_are_refused(self, changes: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=r"scheme|seed"):
            small(**changes)

    def test_unknown_schemes_are_refused(self) -> None:
        with pytest.raises(UnknownSchemeError, match="unknown scheme 'x'"):
            small(schemes=("ours", "x"))

    def test_progress_counts_every_aggregation(self) -> None:
        told: list[int] = []
        simulate(small(), progress=lambda _job, count: told.append(count))
        assert sum(told) == 2 * 6


@pytest.mark.parametrize(("scheme", "measures"), [("all", False), ("random-offload", False), ("ours-offload", True)])
def test_what_no_plan_uses_need_not_be_measured(*, scheme: str, measures: bool) -> None:
    always, needed = (
        simulate(small(schemes=(scheme,), run=replace(SHORT, measure_always=flag))).runs[0] for flag in (True, False)
    )
    assert needed.sampled == always.sampled
    assert needed.devices == always.devices
    measured = [(record.gradient_norm, record.gradient_noise) for record in always.aggregations]
    for first, second, norms in zip(always.aggregations, needed.aggregations, measured, strict=True):
        assert (second.gradient_norm, second.gradient_noise) == (norms if measures else measured[0])
        assert replace(second, gradient_norm=0, gradient_noise=0) == replace(first, gradient_norm=0, gradient_noise=0)
    assert len(set(measured)) == len(measured)


def test_a_run_that_diverges_goes_on_with_what_was_measured_last() -> None:
    training = replace(SHORT.training, learning_rate=1e300)
    run = simulate(small(schemes=("ours-offload",), run=replace(SHORT, training=training))).runs[0]
    assert len(run.aggregations) == 3
    assert not np.isfinite(run.aggregations[-1].loss)
    assert run.aggregations[-1].moved > run.aggregations[1].moved
