"""A folder of labelled realisations: which records exist, which are missing, and making the missing ones.

A folder holds the records of one family, `<label>/S<S>/<seed>.npz`. Each is written as soon as it is made, so a run
that was stopped continues with the missing ones.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib

from fedl_sim.atomic import write_atomically
from fedl_sim.errors import InvalidSettingError, SimulationError
from fedl_sim.labels.label import label
from fedl_sim.labels.record import LabelledRealisation, load_record, record_path, save_record
from fedl_sim.labels.settings import Family
from fedl_sim.parallel import fan_out

__all__ = ["LABELS", "LabelFolder", "LabelJob"]

LABELS = ("fedl", "surrogate")

OnRecord = Callable[[], None]


@dataclass(frozen=True)
class LabelJob:
    """One realisation to label."""

    seed: int
    sample_size: int


@dataclass(frozen=True)
class LabelFolder:
    """A folder for one family.

    Attributes:
        path: the folder; created with the first record.
        family: the family of its records.
    """

    path: Path
    family: Family

    def __post_init__(self) -> None:
        about = self.path / "family.json"
        wanted = self.family.to_lists()
        if about.exists():
            found = json.loads(about.read_text(encoding="utf-8"))
            if found != wanted:
                differing = sorted(k for k in wanted.keys() | found.keys() if wanted.get(k) != found.get(k))
                raise SimulationError(
                    f"{self.path} holds labels of another family: {', '.join(differing)} differ; name another folder"
                )

    def jobs(self, sample_sizes: Iterable[int], seeds: Sequence[int]) -> list[LabelJob]:
        """List realisations seed by seed, so that a run stopped early has about equally many for each sample size."""
        sizes = tuple(sample_sizes)
        return [LabelJob(seed, size) for seed in seeds for size in sizes]

    def missing(self, jobs: Sequence[LabelJob], kind: str) -> list[LabelJob]:
        """Return the jobs without a record."""
        return [job for job in jobs if not self.record(job, kind).exists()]

    def record(self, job: LabelJob, kind: str) -> Path:
        """Return the path of a record; a trained record contains the surrogate too."""
        trained = record_path(self._of("fedl"), job.sample_size, job.seed)
        if kind == "surrogate" and trained.exists():
            return trained
        return record_path(self._of(kind), job.sample_size, job.seed)

    def load(self, jobs: Iterable[LabelJob], kind: str) -> list[LabelledRealisation]:
        """Read records.

        Raises:
            SimulationError: one is missing or damaged.
        """
        records = []
        for job in jobs:
            path = self.record(job, kind)
            if not path.exists():
                raise SimulationError(f"there is no {path}: label the realisations first")
            records.append(load_record(path))
        return records

    def generate(
        self,
        jobs: Sequence[LabelJob],
        kind: str,
        *,
        processes: int = 1,
        dask: str | None = None,
        on_record: OnRecord | None = None,
    ) -> int:
        """Label the jobs without a record and return their number. The result does not depend on the number of workers.

        Workers return records to this process, which writes them, so they need no shared disk.
        """
        missing = self.missing(jobs, kind)
        if not missing:
            return 0
        self._introduce()
        calls = (joblib.delayed(label)(self.family, j.seed, j.sample_size, fedl=kind == "fedl") for j in missing)
        for record in _records(fan_out(calls, processes=processes, dask=dask)):
            save_record(record, self._of(kind))
            if on_record is not None:
                on_record()
        return len(missing)

    def _of(self, kind: str) -> Path:
        if kind not in LABELS:
            raise InvalidSettingError(f"label must be one of {', '.join(LABELS)}, is {kind!r}")
        return self.path / kind

    def _introduce(self) -> None:
        about = self.path / "family.json"
        if not about.exists():
            write_atomically(about, (json.dumps(self.family.to_lists(), indent=1) + "\n").encode())


def _records(results: Iterable[object]) -> Iterator[LabelledRealisation]:
    for result in results:
        if not isinstance(result, LabelledRealisation):
            raise TypeError(f"a worker answered with {type(result).__name__}")
        yield result
