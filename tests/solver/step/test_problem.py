from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver import InvalidInputError
from tests.support.solving import problem


def test_capacity_is_the_smaller_of_room_to_receive_and_room_to_hold() -> None:
    found = problem(receive_capacity=[30.0, 30.0], data_ceiling=[110.0, np.inf]).capacity
    assert_allclose(found, [10.0, 30.0])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"data": [100.0, 0.0]}, "data[1] is 0.0: a sampled device must hold data"),
    ({"data": []}, "data: must name at least one sampled device"),
    ({"data_ceiling": [50.0, 900.0]}, "data_ceiling[0] is 50.0: must be at least the data held"),
    ({"receiver": [1, 0]}, "receiver[1] is 0: must ascend within a sender"),
    ({"receiver": [0, 2]}, "receiver[1] is 2: must be below 2"),
    ({"offsets": [0, 1]}, "offsets: must run from 0 to 2 over 1 senders, one more entry than senders"),
    ({"useful": [1.0]}, "useful: must have 2 entries, has 1"),
    ({"gradient_norm": float("nan")}, "gradient_norm: must be finite, is nan"),
    ({"gradient_noise": -1.0}, "gradient_noise: must be at least 0, is -1"),
    ({"limit": [0.5]}, "limit: must have 2 entries, has 1"),
    ({"limit": [0.5, 1.5]}, "limit[1] is 1.5: must be at most 1"),
    ({"price": [-1.0, 0.0]}, "price[0] is -1.0: must be at least 0"),
    ({"unsampled_data": "many"}, "unsampled_data: must be a number, is str"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_problems_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        problem(**changes)
    assert str(raised.value) == message


def test_receivers_may_start_over_with_the_next_sender() -> None:
    two = problem(offsets=[0, 2, 4], receiver=[0, 1, 0, 1], useful=[1.0] * 4, cost=[1.0] * 4, budget=[1.0, 1.0])
    assert two.sender.tolist() == [0, 0, 1, 1]
