import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from app.plans.diagnosis import component_sizes


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_scipy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(1, 200))
    source, target = generator.integers(0, n, (2, int(generator.integers(0, n + 1))))
    graph = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(n, n))
    _, labels = csgraph.connected_components(graph, directed=False)
    assert sorted(component_sizes(n, source, target)) == sorted(np.bincount(labels))


def test_a_long_chain_in_any_order_is_one_component() -> None:
    order = np.random.default_rng(0).permutation(20_000)
    assert component_sizes(20_000, order[:-1], order[1:]).tolist() == [20_000]
