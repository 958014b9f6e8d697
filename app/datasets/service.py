"""The work behind /v1/datasets, and the rule that a validation needs a worker with its data set."""

from app.datasets.schemas import DataSetList, absence
from app.datasets.store import reported_data_sets
from app.http.gate import Service
from app.http.problems import InvalidRequestError

__all__ = ["check_data_set", "list_data_sets"]


def list_data_sets(service: Service) -> DataSetList:
    """All data sets, and which of them workers have."""
    return DataSetList.of(reported_data_sets(service.store))


def check_data_set(service: Service, name: str) -> None:
    """Refuse a data set that no worker has. Without workers nothing is known, and a validation waits for one.

    Raises:
        InvalidRequestError: workers tell what they have, and none has this.
    """
    reported = reported_data_sets(service.store)
    if reported and not any(name in one for one in reported):
        there = ", ".join(sorted(frozenset[str]().union(*reported)))
        raise InvalidRequestError.at("/data_set", f"{absence(name, len(reported))}; workers have {there}")
