"""Problem documents: each kind of error has a type and a status of its own, and no list grows without bound."""

import pytest

from app.http.problems import ERROR_LIMIT, DiskLowError, InfeasibleError, InvalidRequestError, ServiceError
from app.wire.problem import ErrorItem
from solver import Obstacle


def kinds(root: type[ServiceError] = ServiceError) -> list[type[ServiceError]]:
    return [root, *(kind for child in root.__subclasses__() for kind in kinds(child))]


def test_every_kind_has_a_type_of_its_own() -> None:
    names = [kind.name for kind in kinds()]
    assert len(set(names)) == len(names) > 10
    assert {kind.status.value for kind in kinds() if kind is not ServiceError} == {
        *(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 431, 503, 507)
    }


def test_one_rule_and_many() -> None:
    one = InvalidRequestError.at("/horizon", "must be positive").problem()
    assert (one.status, one.type, one.detail) == (422, "urn:fedsift:problem:invalid", "one rule is broken")
    assert one.errors == [ErrorItem(pointer="/horizon", detail="must be positive")]
    many = InvalidRequestError([ErrorItem(pointer=f"/{i}", detail="") for i in range(500)]).problem()
    assert many.detail == "500 rules are broken"
    assert [item.pointer for item in many.errors] == [f"/{i}" for i in range(ERROR_LIMIT)]
    assert InvalidRequestError([], count=10**6).detail == "1000000 rules are broken"


@pytest.mark.parametrize("count", [3, 500])
def test_devices_that_stand_in_the_way_are_counted_and_the_first_named(count: int) -> None:
    obstacles = [Obstacle(device, 2, "no room") for device in range(count)]
    problem = InfeasibleError("too few", obstacles).problem()
    assert problem.device_count == count
    assert [found.device for found in problem.devices] == list(range(min(count, ERROR_LIMIT)))
    assert (problem.devices[0].step, problem.devices[0].reason) == (2, "no room")


def test_a_full_disk_is_described_with_and_without_a_reserve() -> None:
    assert DiskLowError(5).detail.startswith("fewer than 5 bytes are free for the store (FEDSIFT_DISK_RESERVE)")
    assert DiskLowError(0).detail.startswith("no byte is free for the store (FEDSIFT_DISK_RESERVE)")
