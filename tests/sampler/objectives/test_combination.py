import numpy as np

from sampler.objectives import find_objective
from sampler.objectives.combination import Combination
from sampler.objectives.coverage import Coverage
from sampler.objectives.surrogate import Surrogate
from tests.support.sampling import network, problem

SETS = np.array([[0, 1, 2], [3, 5, 8], [11, 4, 6], [2, 7, 9]])


def test_terms_are_brought_to_one_scale() -> None:
    task = problem(network(), 3, horizon=5)
    both = Combination(task, ((1.0, Coverage.along_links), (2.0, Surrogate))).values(SETS)
    alone = [Combination(task, ((1.0, one),)).values(SETS) for one in (Coverage.along_links, Surrogate)]
    np.testing.assert_allclose(both, alone[0] + 2 * alone[1])
    # In units of their own deviation over random sets.
    sets = np.array([np.random.default_rng(s).choice(12, 3, replace=False) for s in range(400)])
    for one in (Coverage.along_links, Surrogate):
        values = Combination(task, ((1.0, one),)).values(sets)
        assert 0.8 < values.std() < 1.25
        assert abs(values.mean()) < 0.5


def test_a_term_that_tells_nothing_apart_is_left_out() -> None:
    net = network(data=np.full(12, 30.0))
    task = problem(net, 3, offloading=False)
    both = Combination(task, ((1.0, Coverage.along_links), (1.0, Surrogate))).values(SETS)
    np.testing.assert_allclose(both, Combination(task, ((1.0, Coverage.along_links),)).values(SETS))


def test_the_registered_combination_is_the_plain_sum() -> None:
    task = problem(network(), 3, horizon=5)
    expected = Combination(task, ((1.0, Surrogate), (1.0, Coverage.along_paths))).values(SETS)
    np.testing.assert_allclose(find_objective("surrogate_coverage")(task).values(SETS), expected)
