import numpy as np
import pytest

from sampler import find_objective, objective_names
from tests.support.sampling import labelled, problem


@pytest.mark.parametrize("name", objective_names())
@pytest.mark.parametrize("transfer", ["send_once", "redraw", None])
def test_a_set_that_grew_and_shrank_has_the_values_of_the_set(name: str, transfer: str | None) -> None:
    """Device by device on a random walk, beside the value of each set computed from nothing."""
    n = 16
    # Without a transfer nothing is offloaded.
    task = problem(labelled(n, seed=3), 5, horizon=6, offloading=transfer is not None, transfer=transfer or "send_once")
    objective = find_objective(name)(task)
    standing = objective.standing()
    generator = np.random.default_rng(0)
    members: list[int] = []
    for _ in range(14):
        if len(members) > 1 and generator.random() < 0.4:
            standing.remove(members.pop(int(generator.integers(len(members)))))
        else:
            members.append(int(generator.choice(np.setdiff1d(np.arange(n), members))))
            standing.add(members[-1])
        assert sorted(standing.members.tolist()) == sorted(members)
        others = generator.permutation(np.setdiff1d(np.arange(n), members))
        expected = np.array([objective.value(np.array([*members, i])) for i in others])
        assert standing.value() == pytest.approx(objective.value(np.array(members)), rel=1e-9)
        np.testing.assert_allclose(standing.values(others), expected, rtol=1e-9)
        assert np.all(standing.bounds(others) >= expected - 1e-9 * np.abs(expected))
        looked = standing.look(others)
        assert looked.values.max() == pytest.approx(expected.max(), rel=1e-9)
        np.testing.assert_allclose(looked.values, expected[looked.places], rtol=1e-9)


def test_it_moves_to_any_set() -> None:
    objective = find_objective("coverage")(problem(labelled(), 4))
    standing = objective.standing()
    for devices in ([1, 2, 3], [2, 3, 4, 5], [], [7]):
        standing.move_to(np.array(devices, np.int64))
        assert sorted(standing.members.tolist()) == devices
        assert standing.value() == pytest.approx(objective.value(np.array(devices, np.int64)) if devices else 0.0)
