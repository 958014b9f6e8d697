import pickle

import pytest

from sampler.errors import SamplingError, TooFewDevicesError, TooManySetsError
from solver.errors import FedsiftError, InvalidInputError


@pytest.mark.parametrize(
    "error",
    [
        InvalidInputError("data", "must be finite", index=3, value=float("inf")),
        SamplingError("no device"),
        TooFewDevicesError(2, 1, ()),
        TooManySetsError(40, 10, 847660528, 10**5),
    ],
)
def test_errors_travel_between_processes(error: FedsiftError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert arrived.__dict__ == error.__dict__
