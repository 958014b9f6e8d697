import numpy as np
import pytest

from sampler import (
    DEFAULT_SAMPLER,
    SERVED_OBJECTIVES,
    DuplicateSamplerError,
    Selection,
    TooFewDevicesError,
    UnknownSamplerError,
    find_sampler,
    register_sampler,
    registry,
    sampler_names,
    served_samplers,
)
from tests.support.sampling import network, problem


@pytest.mark.parametrize("name", sampler_names())
class TestEverySampler:
    def test_it_chooses_that_many_different_candidates(self, name: str) -> None:
        net = network(data=np.r_[np.zeros(3), np.full(8, 30.0), 1e6])
        chosen = find_sampler(name)(problem(net, 8), np.random.default_rng(0))
        # Three hold nothing, one cannot process what it holds.
        assert sorted(chosen.sampled) == list(range(3, 11))
        assert np.all(np.isfinite(chosen.scores))

    def test_the_generator_decides(self, name: str) -> None:
        one, same = (find_sampler(name)(problem(network()), np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(one.sampled, same.sampled)

    def test_too_few_candidates_are_explained(self, name: str) -> None:
        net = network(data=np.r_[np.zeros(9), np.full(3, 30.0)])
        with pytest.raises(TooFewDevicesError, match="4 devices are to be sampled, 3 can be — device 0") as caught:
            find_sampler(name)(problem(net, 4), np.random.default_rng(0))
        assert len(caught.value.obstacles) == 9

    def test_only_allowed_devices_are_candidates(self, name: str) -> None:
        allowed = np.arange(12) % 2 == 0
        chosen = find_sampler(name)(problem(network(), 5, allowed=allowed), np.random.default_rng(0))
        assert np.all(chosen.sampled % 2 == 0)


def test_random_sampling_is_uniform() -> None:
    counts = np.zeros(12)
    for seed in range(3000):
        counts[find_sampler("random")(problem(network(), 3), np.random.default_rng(seed)).sampled] += 1
    # Each device is expected 750 times, with a deviation of √(3000·¼·¾) ≈ 24.
    assert np.all(np.abs(counts - 750) < 5 * 24)


def test_the_heuristic_takes_the_highest_capacities() -> None:
    net = network()
    chosen = find_sampler("heuristic")(problem(net), np.random.default_rng(0))
    best = np.sort(net.devices.processing_capacity)[::-1][:4]
    np.testing.assert_allclose(chosen.scores, best)


def test_names_are_unique_and_unknown_ones_are_explained() -> None:
    assert DEFAULT_SAMPLER in sampler_names()
    with pytest.raises(UnknownSamplerError, match="unknown sampler 'oracle'; known: exhaustive, .*greedy, .*random"):
        find_sampler("oracle")
    with pytest.raises(UnknownSamplerError, match="unknown objective 'luck'; known: balance, coverage"):
        find_sampler("greedy:luck")
    with pytest.raises(UnknownSamplerError, match="'random' takes no objective"):
        find_sampler("random:coverage")
    for name in ("random", "random_branch"):
        with pytest.raises(DuplicateSamplerError, match=f"{name}' is registered already"):
            register_sampler(name, find_sampler("random"))


def test_callers_are_offered_seven_samplers_and_three_objectives() -> None:
    assert served_samplers() == (
        "exhaustive",
        "gcn_branch",
        "gcn_rank",
        "greedy",
        "heuristic",
        "local_search",
        "random",
    )
    assert SERVED_OBJECTIVES == ("balance", "coverage", "surrogate")
    assert set(sampler_names()) - set(served_samplers()) == {"gcn_branch_fedl", "random_branch"}
    for name in (*served_samplers(), *(f"greedy:{objective}" for objective in SERVED_OBJECTIVES)):
        assert find_sampler(name, served=True) == find_sampler(name)


@pytest.mark.parametrize("name", ["random_branch", "gcn_branch_fedl", "oracle"])
def test_samplers_for_studies_are_refused_to_callers(name: str) -> None:
    known = "known: exhaustive, gcn_branch, gcn_rank, greedy, heuristic, local_search, random$"
    with pytest.raises(UnknownSamplerError, match=known):
        find_sampler(name, served=True)


@pytest.mark.parametrize("name", ["resemblance", "mixture", "distance", "coverage_paths", "luck"])
def test_objectives_for_studies_are_refused_to_callers(name: str) -> None:
    with pytest.raises(UnknownSamplerError, match="known: balance, coverage, surrogate$"):
        find_sampler(f"local_search:{name}", served=True)


@pytest.mark.parametrize("served", [True, False])
def test_a_new_sampler_is_for_studies_unless_it_is_to_be_served(
    monkeypatch: pytest.MonkeyPatch, *, served: bool
) -> None:
    for tier in ("_SERVED", "_FOR_STUDIES"):
        monkeypatch.setattr(registry, tier, dict(getattr(registry, tier)))
    register_sampler("mine", find_sampler("random"), served=served)
    assert "mine" in sampler_names()
    assert ("mine" in served_samplers()) is served


def test_a_selection_checks_itself() -> None:
    with pytest.raises(ValueError, match="twice"):
        Selection(np.array([1, 1]), np.zeros(2))
    with pytest.raises(ValueError, match="score"):
        Selection(np.array([1, 2]), np.zeros(3))


@pytest.mark.parametrize(
    ("size", "horizon", "field"), [(0, 1, "sample_size"), (-3, 1, "sample_size"), (2, 0, "horizon")]
)
def test_sizes_below_one_are_refused(size: int, horizon: int, field: str) -> None:
    with pytest.raises(ValueError, match=f"{field}: must be at least 1"):
        problem(network(), size, horizon=horizon)
