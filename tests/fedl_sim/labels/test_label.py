from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.compiled.moves import move_set
from fedl_sim.engines.factory import make_engine
from fedl_sim.errors import SimulationError
from fedl_sim.labels.label import label, realisation_of
from fedl_sim.labels.losses import CommonNumbers, SetTrainer
from fedl_sim.labels.record import load_record, record_path, save_record
from fedl_sim.labels.settings import Family, kind_of
from solver.horizon.batch import plan_sets
from solver.horizon.sequence import plan_offloading
from solver.network import Links, Network

SMALL = Family(n_devices=6, budgets=("loose",), topologies=("erdos-renyi",), link_probabilities=(0.5,), aggregations=2)


def test_every_candidate_set_is_labelled_once() -> None:
    record = label(SMALL, 3, 2)
    assert list(map(tuple, record.sets)) == list(combinations(range(6), 2))
    assert record.fedl_loss is not None
    assert record.fedl_accuracy is not None
    assert record.surrogate.shape == record.fedl_loss.shape == record.fedl_accuracy.shape == (15,)
    assert np.all(record.fedl_loss > 0)
    assert np.all((record.fedl_accuracy > 0) & (record.fedl_accuracy <= 1))


def test_the_surrogate_is_the_plans_objective() -> None:
    record = label(SMALL, 3, 2, fedl=False)
    assert record.fedl_loss is None
    for sampled, value in zip(record.sets, record.surrogate, strict=True):
        plan = plan_offloading(record.network, sampled, horizon=SMALL.horizon, transfer="redraw")
        assert value == pytest.approx(plan.objective, rel=1e-7)


def test_a_seed_decides_everything_and_another_changes_it() -> None:
    one, same, other = (label(SMALL, seed, 2) for seed in (3, 3, 4))
    for name in ("surrogate", "fedl_loss", "fedl_accuracy", "sampled_data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
        assert not np.array_equal(getattr(one, name), getattr(other, name))


def test_training_on_offloaded_data_beats_training_without() -> None:
    without = Family(**(SMALL.to_lists() | {"budgets": ("none",)}))
    seeds = range(4)
    loose = np.mean([label(SMALL, seed, 2).values("fedl").mean() for seed in seeds])
    alone = np.mean([label(without, seed, 2).values("fedl").mean() for seed in seeds])
    assert loose < alone - 0.2
    record = label(without, 0, 2)
    np.testing.assert_array_equal(record.sampled_data, record.network.devices.data[record.sets])
    assert len(record.network.links) > 0  # samplers see the links all the same


def test_kinds_cover_the_family() -> None:
    family = Family()
    kinds = [kind_of(family, seed) for seed in range(200)]
    assert {k.budget for k in kinds} == {"none", "loose", "tight", "scarce"}
    assert {k.topology for k in kinds} == set(family.topologies)
    assert {k.labels_per_device for k in kinds} == set(family.labels_per_device)


def test_one_call_trains_as_the_engine_epoch_by_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_data_set("digits")
    for model in ("softmax", "mlp"):
        engine = make_engine("compiled", model, data)
        _, realisation = realisation_of(SMALL, 1)
        plans = plan_sets(realisation.network, [[0, 1, 4], [2, 3, 5]], horizon=SMALL.horizon, transfer="redraw")
        fast = SetTrainer.of(SMALL, realisation, data, engine).train_sets(plans, 1)
        with monkeypatch.context() as patch:
            # As for an engine that cannot train whole rounds.
            patch.setattr("fedl_sim.labels.losses.CompiledEngine", int)
            slow = SetTrainer.of(SMALL, realisation, data, engine).train_sets(plans, 1)
        np.testing.assert_allclose(fast, slow, rtol=1e-4)


def test_a_cnn_trains_through_the_engine() -> None:
    family = Family(**(SMALL.to_lists() | {"model": "cnn", "aggregations": 1, "aggregation_period": 1}))
    record = label(family, 0, 5)
    assert record.fedl_loss is not None
    assert len(record.fedl_loss) == 6


def test_moves_follow_the_plan_and_drop_what_is_covered() -> None:
    # Device 0 holds slots 0..3, device 1 slots 4..5; link 0 is 0 → 1, and of 0's points the third is covered at 1.
    first = np.array([0, 4, 6])
    turn = np.array([[[0, 1, 2, 3]], [[2, 1, 3, 0]]])
    covered = np.array([[False, False, True, False]])
    rounding = np.array([[0.9], [0.3]])
    fractions = np.array([[0.5], [0.6]])  # 2 points; 2.4 points, rounded up since 0.3 < 0.4
    slots, held = move_set(
        first, np.array([1]), np.array([0]), np.array([0]), fractions, np.array([0]), turn, rounding, covered
    )
    # Step 1 sends 0 and 1, both new; step 2 sends 2 (covered), 1 (sent before) and 3.
    np.testing.assert_array_equal(held[:, 0], [4, 5])
    np.testing.assert_array_equal(slots[0, :5], [4, 5, 0, 1, 3])


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    record = label(SMALL, 3, 2)
    path = save_record(record, tmp_path)
    assert path == record_path(tmp_path, 2, 3)
    again = load_record(path)
    assert (again.family, again.seed, again.kind, again.sample_size) == (SMALL, 3, record.kind, 2)
    for name in ("sets", "surrogate", "fedl_loss", "fedl_accuracy", "sampled_data"):
        np.testing.assert_array_equal(getattr(again, name), getattr(record, name))
    np.testing.assert_array_equal(again.network.links.similarity, record.network.links.similarity)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SimulationError, match="no labelled realisation"):
        load_record(path)


def test_percentiles_rank_a_set_among_all() -> None:
    record = label(SMALL, 3, 2, fedl=False)
    best, worst = record.sets[np.argmin(record.surrogate)], record.sets[np.argmax(record.surrogate)]
    assert record.percentile(best[::-1], "surrogate") == 0
    assert record.percentile(worst, "surrogate") == 1
    mean = np.mean([record.percentile(each, "surrogate") for each in record.sets])
    assert mean == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no candidate set"):
        record.percentile(np.array([0, 9]), "surrogate")
    with pytest.raises(ValueError, match="not trained"):
        record.values("fedl")
    with pytest.raises(ValueError, match="fedl or surrogate"):
        record.values("loss")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"budgets": ("ample",)}, "ample"),
        ({"budgets": ()}, "at least one"),
        ({"data_set": "letters"}, "data_set"),
        ({"draws": 0}, "draws"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_bad_families_are_refused(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Family(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 7])
def test_sizes_beyond_the_devices_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"sample_size must lie in 1..6"):
        label(SMALL, 0, size)


def test_luck_hardly_changes_which_sets_are_good() -> None:
    data = load_data_set("digits")
    engine = make_engine("compiled", "softmax", data)
    family = Family()
    correlations = []
    for seed in range(4):
        kind, realisation = realisation_of(family, seed)
        moving = realisation.network if kind.offloading else Network(realisation.network.devices, Links.none())
        plans = plan_sets(moving, list(combinations(range(10), 2)), horizon=family.horizon, transfer="redraw")
        trainer = SetTrainer.of(family, realisation, data, engine)
        losses = []
        for draw in (0, 1):
            numbers = CommonNumbers.of(realisation, engine, family.horizon, seed, draw)
            losses.append([engine.evaluate(trainer.train(plans, b, numbers)).loss for b in range(len(plans.sets))])
        correlations.append(spearmanr(losses[0], losses[1]).statistic)
    assert np.mean(correlations) > 0.8


def test_luck_is_shared_by_all_sets() -> None:
    """A set's loss does not depend on which other sets are labelled with it."""
    data = load_data_set("digits")
    engine = make_engine("compiled", "softmax", data)
    _, realisation = realisation_of(SMALL, 1)
    both = plan_sets(realisation.network, [[0, 1, 4], [2, 3, 5]], horizon=SMALL.horizon, transfer="redraw")
    one = plan_sets(realisation.network, [[2, 3, 5]], horizon=SMALL.horizon, transfer="redraw")
    together, alone = (SetTrainer.of(SMALL, realisation, data, engine).train_sets(plans, 1)[0] for plans in (both, one))
    assert together[1] == pytest.approx(alone[0], rel=1e-6)
