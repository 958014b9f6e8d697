import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sampler import SamplingProblem, WeightsError, find_sampler
from sampler.gcn.examples import Example, RankStates, TrainingOptions
from sampler.gcn.features import FEATURES, device_features
from sampler.gcn.forward import Propagation, gcn_scores
from sampler.gcn.rank import GcnRank, rank_logits
from sampler.gcn.rank_features import RANK_FEATURES, RankView
from sampler.gcn.rank_training import RankNetwork, train_rank
from sampler.gcn.sampler import GcnBranch
from sampler.gcn.score_training import train_scorer
from sampler.gcn.weights import PAPER_SIZES, Weights, load_weights, read_weights, weights_name
from solver.errors import InvalidInputError
from solver.network import DEVICE_COLUMNS, Devices, Links, Network
from solver.network.schedule import Schedule
from tests.support.networks import random_devices


def problem(network: Network, size: int, **options: object) -> SamplingProblem:
    return SamplingProblem.of(Schedule.of(network), size, **options)  # type: ignore[arg-type]


def with_labels(network: Network, seed: int, classes: int = 4) -> Network:
    counts = np.random.default_rng(seed).integers(0, 30, (len(network), classes)).astype(float) + 1
    return network.with_columns({"data": counts.sum(axis=1), "label_counts": counts})


class TestGcnBranch:
    def test_scores_are_the_networks_and_the_trace_says_why(self) -> None:
        network = random_devices(30, 0.2, 1)
        chosen = find_sampler("gcn_branch")(problem(network, 4), np.random.default_rng(0))
        weights = load_weights("gcn-surrogate", "s4")
        scores = gcn_scores(device_features(network, 4), Propagation(network), weights.layers)
        np.testing.assert_allclose(chosen.scores, scores[chosen.sampled])
        assert [pick.device for pick in chosen.trace] == chosen.sampled.tolist()

    @pytest.mark.parametrize(("size", "name"), [(2, "general"), (3, "s3"), (6, "s6"), (7, "general")])
    def test_each_size_has_its_model(self, size: int, name: str) -> None:
        assert weights_name(size) == name
        sampler = GcnBranch()
        assert sampler.weights_for(size) is load_weights("gcn-surrogate", name)
        chosen = sampler(problem(random_devices(12, 0.3, 0), size), np.random.default_rng(0))
        assert len(chosen.sampled) == size

    def test_missing_weights_are_named(self) -> None:
        sampler = GcnBranch(weights={"s3": load_weights("gcn-surrogate", "s3")})
        with pytest.raises(WeightsError, match="no weights 's4' and no general ones: s3"):
            sampler(problem(random_devices(12, 0.3, 0), 4), np.random.default_rng(0))
        with pytest.raises(WeightsError, match="gcn-surrogate-s99.json"):
            load_weights("gcn-surrogate", "s99")

    def test_random_scores_branch_by_the_same_rules(self) -> None:
        chosen = find_sampler("random_branch")(problem(random_devices(30, 0.2, 1), 4), np.random.default_rng(0))
        assert chosen.trace[0].rule == "most data"
        other = find_sampler("random_branch")(problem(random_devices(30, 0.2, 1), 4), np.random.default_rng(1))
        assert chosen.scores.tolist() != other.scores.tolist()


class TestPackagedWeights:
    @pytest.mark.parametrize("name", [*map(weights_name, PAPER_SIZES), "general"])
    @pytest.mark.parametrize("model", ["gcn-fedl", "gcn-surrogate", "rank"])
    def test_they_say_where_they_come_from(self, model: str, name: str) -> None:
        weights = load_weights(model, "general" if model == "rank" else name)
        about = weights.provenance
        assert {"label", "realisations", "first_seed", "command", "trained_on", "held_out"} <= set(about)
        assert {"fedl_percentile", "surrogate_percentile", "fedl_percentile_random_branch"} <= set(about)
        assert str(about["command"]).startswith(f"fedsift train --model {model.split('-', maxsplit=1)[0]}")
        assert model == "rank" or about["label"] == model.split("-")[1]
        assert len(weights.features) == (len(RANK_FEATURES) if model == "rank" else 4 + (name == "general"))

    def test_the_samplers_hand_their_provenance_on(self) -> None:
        for name, key in (("gcn_branch", "s3.command"), ("gcn_rank", "command")):
            provenance = find_sampler(name).provenance  # type: ignore[attr-defined]
            assert all(isinstance(value, str | float | int) for value in provenance.values())
            assert key in provenance

    def test_they_survive_their_file(self, tmp_path: Path) -> None:
        weights = load_weights("gcn-surrogate", "s3")
        (tmp_path / "w.json").write_text(weights.to_json())
        again = read_weights(tmp_path / "w.json")
        assert again.provenance == weights.provenance
        for one, other in zip(weights.layers, again.layers, strict=True):
            np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', '{"format": "fedsift-gcn-1"}'])
    def test_other_files_are_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "w.json").write_text(text)
        with pytest.raises(WeightsError, match="w.json"):
            read_weights(tmp_path / "w.json")

    @pytest.mark.parametrize("layers", [(), (np.zeros((3, 1)),), (np.zeros((4, 2)),), (np.full((4, 1), np.nan),)])
    def test_layers_must_fit(self, layers: tuple[np.ndarray, ...]) -> None:
        with pytest.raises(WeightsError, match="layer"):
            Weights("gcn", FEATURES, layers, {})


class TestGcnRank:
    def weights(self, seed: int = 0) -> Weights:
        generator = np.random.default_rng(seed)
        widths = [len(RANK_FEATURES), 8, 8, 1]
        layers = tuple(generator.normal(size=(2 * narrow + 1, wide)) for narrow, wide in pairwise(widths))
        return Weights("rank", RANK_FEATURES, layers, {})

    def test_numpy_equals_torch(self) -> None:
        network = with_labels(random_devices(12, 0.4, 3), 3)
        weights = self.weights()
        model = RankNetwork([len(RANK_FEATURES), 8, 8, 1])
        with torch.no_grad():
            for layer, matrix in zip(model.layers, weights.layers, strict=True):
                layer.get_parameter("weight").copy_(torch.from_numpy(matrix[:-1].T.copy()))
                layer.get_parameter("bias").copy_(torch.from_numpy(matrix[-1]))
            view = RankView(problem(network, 3))
            view.pick(5)
            features, propagate = view.features(), Propagation(network)
            dense = torch.from_numpy(propagate(np.eye(12)))
            expected = model(torch.from_numpy(features), dense).numpy()
        logits = rank_logits(features, propagate, weights.layers)
        np.testing.assert_allclose(logits, expected, atol=1e-9)
        for one, other in zip(model.matrices(), weights.layers, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_the_clock_is_looked_at_before_every_layer(self) -> None:
        network, looks = random_devices(12, 0.4, 3), list[None]()
        features, propagate = RankView(problem(network, 3)).features(), Propagation(network, lambda: looks.append(None))
        looks.clear()
        rank_logits(features, propagate, self.weights().layers)
        assert len(looks) == 3

    @given(st.integers(2, 15), st.integers(0, 2**32 - 1))
    @settings(deadline=None, max_examples=30)
    def test_relabelling_devices_relabels_the_choice(self, n: int, seed: int) -> None:
        network = with_labels(random_devices(n, 0.4, seed), seed)
        order = np.random.default_rng(seed).permutation(n)
        place = np.argsort(order)
        columns = {name: getattr(network.devices, name)[order] for name in (*DEVICE_COLUMNS, "label_counts")}
        links = network.links
        moved = Network(
            Devices(**columns), Links(place[links.source], place[links.target], links.similarity, links.transmit_cost)
        )
        sampler = GcnRank(self.weights(seed))
        one, other = (sampler(problem(net, min(3, n)), np.random.default_rng(0)) for net in (network, moved))
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
        assert order[other.sampled].tolist() == one.sampled.tolist()

    def test_it_looks_at_what_is_picked_already(self) -> None:
        counts = np.array([[50.0, 0], [49, 0], [0, 30], [0, 29], [0, 28]])
        network = random_devices(5, 0.0, 0).with_columns({"data": counts.sum(axis=1), "label_counts": counts})
        view = RankView(problem(network, 2, offloading=False))
        column = RANK_FEATURES.index("mixture_match")
        view.pick(0)
        features = view.features()
        assert features[2, column] > features[1, column]  # the other label is what is missing
        assert features[0, RANK_FEATURES.index("picked")] == 1
        np.testing.assert_array_equal(features[:, RANK_FEATURES.index("offloading")], 0)

    def test_links_to_the_picked_are_seen_from_both_ends(self) -> None:
        devices = Devices([60, 50, 40], [900] * 3, [1] * 3, [20] * 3, [9] * 3)  # type: ignore[arg-type]
        links = Links(np.array([1, 0, 1]), np.array([0, 2, 2]), np.array([0.3, 0.7, 0.1]), np.ones(3))
        view = RankView(problem(Network(devices, links), 2, horizon=2))
        view.pick(0)
        of = {name: view.features()[:, i] for i, name in enumerate(RANK_FEATURES)}
        np.testing.assert_allclose(of["similarity_to_picked"], [0, 0.3, 0])
        np.testing.assert_allclose(of["similarity_of_picked"], [0, 0, 0.7])
        np.testing.assert_allclose(of["linked_to_picked"], [0, 1, 1])
        # 1 sends to 0, which is picked, so what it could send to 2 is contested; 0 itself no longer sends.
        assert of["inflow_contested"][2] > 0
        assert of["inflow_from_picked"][2] > 0
        assert 0 < of["outflow_to_picked"][1] < 1

    def test_the_trace_tells_of_every_pick(self) -> None:
        network = with_labels(random_devices(40, 0.2, 3), 3)
        chosen = find_sampler("gcn_rank")(problem(network, 4), np.random.default_rng(0))
        assert [pick.n_candidates for pick in chosen.trace] == [40, 39, 38, 37]
        assert all(pick.candidates[0] == pick.device for pick in chosen.trace)
        assert json.dumps([pick.to_dict() for pick in chosen.trace])


class TestTraining:
    def examples(self, count: int = 120) -> list[Example]:
        """Networks whose best devices are those with most data: easy to learn."""
        examples = []
        for seed in range(count):
            network = random_devices(10, 0.05, seed)
            target = np.zeros(10)
            target[np.argsort(-network.devices.data)[:3]] = 1 / 3
            examples.append(Example(network, device_features(network, 3), target))
        return examples

    def test_it_learns_and_seeds_reproduce(self) -> None:
        options = TrainingOptions(epochs=60)
        one, same = (train_scorer(self.examples(), options) for _ in range(2))
        assert one.validation_loss < one.first_loss - 0.3
        for a, b in zip(one.layers, same.layers, strict=True):
            np.testing.assert_array_equal(a, b)
        other = train_scorer(self.examples(), TrainingOptions(epochs=60, seed=1))
        assert not np.array_equal(one.layers[0], other.layers[0])
        # What was trained in torch serves in NumPy.
        network = random_devices(50, 0.01, 99)
        scores = gcn_scores(device_features(network, 3), Propagation(network), one.layers)
        assert np.corrcoef(scores, network.devices.data)[0, 1] > 0.7

    def test_the_ranking_network_learns_too(self) -> None:
        generator = np.random.default_rng(0)
        features = generator.normal(size=(200, 6, 3))
        free = generator.random((200, 6)) < 0.8
        free[:, 0] = True
        target = np.where(free, np.exp(4 * features[:, :, 1]), 0)
        states = RankStates(features, np.tile(np.eye(6), (200, 1, 1)), target / target.sum(axis=1, keepdims=True), free)
        options = TrainingOptions((8,), epochs=30, batch_size=32)
        one, same = (train_rank(states, options) for _ in range(2))
        assert one.validation_loss < 0.6 * one.first_loss
        for a, b in zip(one.layers, same.layers, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_one_example_is_too_few(self) -> None:
        with pytest.raises(InvalidInputError, match="at least two examples, there are 1"):
            train_scorer(self.examples(1), TrainingOptions())

    @pytest.mark.parametrize(
        "change", [{"hidden": ()}, {"hidden": (0,)}, {"epochs": 0}, {"learning_rate": 0}, {"validation_share": 1}]
    )
    def test_bad_options_are_refused(self, change: dict[str, object]) -> None:
        with pytest.raises(InvalidInputError, match=f"{next(iter(change))}: must"):
            TrainingOptions(**change)  # type: ignore[arg-type]
