"""What `gcn_rank` keeps between picks changes neither its features nor its logits nor its choice."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from sampler import SamplingProblem, find_sampler
from sampler.errors import TimeIsOverError
from sampler.gcn import rank_features
from sampler.gcn.features import standardised
from sampler.gcn.forward import Propagation, log_softmax
from sampler.gcn.rank import GcnRank, rank_logits
from sampler.gcn.rank_features import RANK_FEATURES, RankView
from sampler.gcn.rank_pass import RankPass
from sampler.gcn.weights import GENERAL, Weights, load_weights
from sampler.label_counts.histograms import class_counts
from sampler.objectives.reach import attainable_counts, link_reach
from solver.instances import random_network
from solver.network import Network
from tests.support.sampling import problem


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    quotient: np.ndarray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return quotient


def mixture_columns(task: SamplingProblem, picked: list[int]) -> list[np.ndarray]:
    """gain, own_gain, mixture_match, overlap and own_overlap by their definitions."""
    network = task.conditions
    counts = class_counts(network.devices)
    if counts is None:
        return [np.zeros(len(network))] * 5
    share = counts.sum(axis=0) / counts.sum()
    unit = counts.sum() / len(network)
    reached = attainable_counts(network, task.horizon if task.offloading else 0) / unit
    after, own = (held + held[picked].sum(axis=0) for held in (reached, counts / unit))
    gain, own_gain = (np.sqrt(held * share).sum(axis=1) for held in (after, own))
    overlap, own_overlap = (
        np.minimum(held / held.sum(axis=1, keepdims=True), share).sum(axis=1) for held in (after, own)
    )
    columns = gain, own_gain, gain / np.sqrt(after.sum(axis=1)), overlap, own_overlap
    return [standardised(column[:, None])[:, 0] for column in columns]


def plain_features(task: SamplingProblem, picked: list[int]) -> np.ndarray:
    """All features of a set by their definitions, from dense matrices."""
    network = task.conditions
    devices, links, n = network.devices, network.links, len(network)
    horizon = task.horizon if task.offloading else 0
    linked, similarity, flow = (np.zeros((n, n)) for _ in range(3))
    linked[links.source, links.target] = 1.0
    similarity[links.source, links.target] = links.similarity
    flow[links.source, links.target] = link_reach(network, horizon) * devices.data[links.source]
    inflow, outflow = flow.sum(axis=0), flow.sum(axis=1)
    attainable = attainable_counts(network, horizon).sum(axis=1)
    static = (
        devices.data,
        attainable,
        ratio(attainable, devices.data),
        similarity.sum(axis=1),
        similarity.sum(axis=0) / np.maximum(linked.sum(axis=0), 1),
        linked.sum(axis=0),
    )
    busy = linked[:, picked].any(axis=1)
    nearby = (
        similarity[:, picked].max(axis=1, initial=0),
        similarity[picked].max(axis=0, initial=0),
        linked[:, picked].any(axis=1) | linked[picked].any(axis=0),
        ratio(flow[picked].sum(axis=0), inflow),
        ratio(flow[busy].sum(axis=0), inflow),
        ratio(flow[:, picked].sum(axis=1), outflow),
        np.isin(np.arange(n), picked),
    )
    constant = task.offloading, class_counts(devices) is not None, task.sample_size / n, len(picked) / task.sample_size
    relative = [standardised(column[:, None])[:, 0] for column in static]
    same = [np.full(n, float(value)) for value in constant]
    return np.stack([*relative, *mixture_columns(task, picked), *nearby, *same], axis=1)


def plain_choice(
    task: SamplingProblem, weights: Weights, generator: np.random.Generator
) -> tuple[list[int], list[float]]:
    """Pick device after device, scoring all of them anew; ties are drawn among."""
    propagate = Propagation(task.conditions)
    picked: list[int] = []
    scores: list[float] = []
    for _ in range(task.sample_size):
        logits = rank_logits(plain_features(task, picked), propagate, weights.layers)
        pool = np.setdiff1d(task.candidates, picked)
        of_pool = log_softmax(logits[pool])
        ties = pool[of_pool >= of_pool.max() - 1e-9]
        scores.append(float(of_pool.max()))
        picked.append(int(ties[0] if len(ties) == 1 else generator.choice(ties)))
    return picked, scores


def network_of(n: int, links: float, seed: int, labels: str) -> Network:
    generator = np.random.default_rng(seed)
    network = random_network(generator, n, link_probability=links)
    if labels == "none":
        return network
    counts = generator.random((n, 5)) ** 3
    counts *= (network.devices.data / counts.sum(axis=1))[:, None]
    columns: dict[str, npt.ArrayLike] = {"label_counts": counts}
    if labels == "noisy":
        columns["label_epsilon"] = 0.3
    return network.with_columns(columns)


def random_weights(seed: int, *hidden: int) -> Weights:
    generator = np.random.default_rng(seed)
    widths = [len(RANK_FEATURES), *hidden, 1]
    layers = tuple(generator.normal(size=(2 * narrow + 1, wide)) for narrow, wide in pairwise(widths))
    return Weights("rank", RANK_FEATURES, layers, {})


@pytest.fixture(autouse=True, params=[8_192, 16], ids=["whole", "parts"])
def _parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute all devices at once, and a few at a time in threads."""
    monkeypatch.setattr(rank_features, "_AT_ONCE", request.param)


@pytest.mark.parametrize("labels", ["exact", "noisy", "none"])
@pytest.mark.parametrize("links", [0.0, 0.03, 0.3])
def test_it_chooses_what_the_plain_network_chooses(labels: str, links: float) -> None:
    for seed, n, size in ((0, 6, 4), (1, 60, 25), (2, 60, 8)):
        task = problem(network_of(n, links, seed, labels), size, horizon=10, offloading=seed != 2)
        for weights in (load_weights("rank", GENERAL), random_weights(seed, 8, 12)):
            chosen = GcnRank(weights)(task, np.random.default_rng(0))
            picked, scores = plain_choice(task, weights, np.random.default_rng(0))
            assert chosen.sampled.tolist() == picked
            np.testing.assert_allclose(chosen.scores, scores, atol=1e-9)


@pytest.mark.parametrize("labels", ["exact", "none"])
def test_features_and_logits_are_those_of_the_set(labels: str) -> None:
    task = problem(network_of(50, 0.1, 3, labels), 20, horizon=10)
    propagate = Propagation(task.conditions)
    # Narrower, wider, and no hidden layers at all.
    for weights in (random_weights(0, 8, 3), random_weights(1, 3, 8), random_weights(2)):
        view = RankView(task)
        network = RankPass(view, weights.layers)
        for device in np.random.default_rng(4).permutation(50)[:20].tolist():
            plain = plain_features(task, view.picked)
            np.testing.assert_allclose(view.features(), plain, atol=1e-9)
            np.testing.assert_allclose(network.logits(), rank_logits(plain, propagate, weights.layers), atol=1e-7)
            network.renew(view.pick(device))


def test_equal_devices_are_drawn_among() -> None:
    network = network_of(30, 0.0, 5, "none")
    same: dict[str, npt.ArrayLike] = {
        name: np.full(30, getattr(network.devices, name)[0]) for name in ("data", "receive_capacity")
    }
    task = problem(network.with_columns(same), 2, offloading=False)
    firsts = set()
    for seed in range(20):
        chosen = find_sampler("gcn_rank")(task, np.random.default_rng(seed))
        assert [pick.tied for pick in chosen.trace] == [30, 29]
        firsts.add(int(chosen.sampled[0]))
    assert len(firsts) > 5


def test_the_clock_is_looked_at_before_every_part_of_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_features, "_AT_ONCE", 16)
    view = RankView(problem(network_of(40, 0.2, 6, "none"), 3))
    network = RankPass(view, random_weights(0, 8, 8).layers)
    looks: list[None] = []
    view.look = lambda: looks.append(None)
    network.logits()
    # Three parts of two layers that gather first, and of one that weighs first and then gathers.
    assert len(looks) == 3 * (1 + 1 + 2)

    def over() -> None:
        raise TimeIsOverError("time is over")

    view.look = over
    with pytest.raises(TimeIsOverError):
        network.logits()
