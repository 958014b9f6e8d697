"""Senders with one pair earn in closed form what step-by-step counting finds."""

import numpy as np
import pytest

from solver.kernels.joint import Joint
from solver.kernels.price_search import Prices, bound_at, new_response
from solver.validation import frozen

STEPS, RECEIVERS = 9, 3


def horizon(generator: np.random.Generator, prices: float, segments: int) -> Joint:
    """Thirty senders, most of them with one pair; every segment has the same conditions."""
    pairs = np.where(generator.random(30) < 0.7, 1, 2)
    offsets = np.append(0, np.cumsum(pairs))
    receiver = np.concatenate([generator.permutation(RECEIVERS)[:n] for n in pairs])
    n = receiver.size
    rows = (
        generator.choice([0.0, 1.0, 5.0], n) * generator.random(n),
        generator.choice([0.0, 1.0], n, p=[0.2, 0.8]),
        generator.choice([0.0, 0.07, 0.25, 3.0], 30),
        generator.random(RECEIVERS),
        generator.random(RECEIVERS),
        prices * generator.random(n),
        np.zeros(RECEIVERS),
    )
    limit = generator.choice([0.0, 0.4, 1.0], n)
    # Half of the steps in the first of two segments.
    number = np.arange(STEPS) * segments // STEPS
    columns = (offsets, receiver, limit, number)
    return Joint(*map(frozen, columns), *(frozen(np.tile(row, (segments, 1))) for row in rows))


@pytest.mark.parametrize("prices", [0.0, 0.5])
def test_one_segment_is_bounded_like_two_under_the_same_conditions(prices: float) -> None:
    for seed in range(20):
        found = []
        for segments in (1, 2):
            generator = np.random.default_rng([seed, int(prices > 0)])
            joint = horizon(generator, prices, segments)
            worth = generator.random((STEPS, RECEIVERS))
            receiving = 0.3 * generator.random(STEPS * RECEIVERS)
            holding = np.zeros(segments * RECEIVERS)
            holding[-RECEIVERS:] = 0.2 * generator.random(RECEIVERS)
            once = Prices(receiving, holding, generator.random(joint.limit.size))
            response = new_response(joint)
            bound = bound_at(joint, worth, once, response)
            found.append((bound, response.sent, response.R.sum(axis=0)))
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
