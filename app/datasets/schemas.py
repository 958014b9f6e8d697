"""Data sets over the wire."""

from collections.abc import Sequence

from pydantic import Field

from app.wire.base import AnswerModel, Optional, given
from fedl_sim.contract import DATA_SETS

__all__ = ["DataSetList", "DataSetOut", "absence"]


class DataSetOut(AnswerModel):
    """A data set that validations can name."""

    name: str
    available: bool = Field(description="Whether a worker has it. A validation on one that none has is refused.")
    workers: int = Field(description="How many workers have it.")
    reason: Optional[str] = Field(None, description="Why it is not available.")


class DataSetList(AnswerModel):
    """All data sets, and which of them workers have."""

    workers: int = Field(description="How many workers tell what they have.")
    data_sets: list[DataSetOut]

    @classmethod
    def of(cls, reported: Sequence[frozenset[str]]) -> "DataSetList":
        """The data sets, after what each worker has."""
        return cls(workers=len(reported), data_sets=[_described(name, reported) for name in DATA_SETS])


def _described(name: str, reported: Sequence[frozenset[str]]) -> DataSetOut:
    count = sum(name in one for one in reported)
    return DataSetOut(
        name=name, available=count > 0, workers=count, **given(reason=None if count else absence(name, len(reported)))
    )


def absence(name: str, workers: int) -> str:
    """Why a data set is not available."""
    if workers == 0:
        return "no worker is running that could tell"
    return f"no worker has its files; put them into the folder {name}/ of a worker's FEDSIFT_DATA_DIR"
