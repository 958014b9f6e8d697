"""Runs and their periods in the store. Rows are written once and never changed.

A period is written by whichever process is first, in one transaction with the state that follows from it.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from app.store import Store
from app.store.about import About, joined, read_about, tell
from app.store.database import GoneError, ReadTransaction, Transaction
from app.store.paging import Page, owned_page
from app.store.usage import ROW_BYTES, charge

__all__ = ["PeriodEntry", "PeriodRecord", "RunHistory", "RunRecord", "RunStore"]

_RUN = "id, owner, created_at, n_devices, sample_size, horizon, aggregation_period"
# With when it last grew; rows of an earlier release have 0 until they do.
_SHOWN = (
    "x.id, x.owner, x.created_at, x.n_devices, x.sample_size, x.horizon, x.aggregation_period, "
    "COALESCE((SELECT NULLIF(u.grown_at, 0) FROM usage u WHERE u.run_id = x.id), x.created_at)"
)
_PERIOD = "run_id, aggregation, request_digest, request, state, answer, created_at"


@dataclass(frozen=True)
class RunRecord:
    """A run as it was asked for, and when it last grew."""

    id: str
    owner: str
    created_at: float
    n_devices: int
    sample_size: int
    horizon: int
    aggregation_period: int
    updated_at: float
    about: About


@dataclass(frozen=True)
class PeriodRecord:
    """An answered period.

    Attributes:
        aggregation: k; 0 is the first period.
        request_digest: of what was asked, to tell a replay from another body.
        request: the aggregation's body, empty for k = 0.
        state: the state of the horizon and the gradient after the period, as JSON.
        answer: the answer, byte for byte.
        created_at: when it was answered.
    """

    run_id: str
    aggregation: int
    request_digest: str
    request: bytes
    state: str
    answer: bytes
    created_at: float


@dataclass(frozen=True)
class PeriodEntry:
    """An answered period in a list; nobody knows when those of an earlier release were answered."""

    aggregation: int
    request: bytes
    created_at: float | None


@dataclass(frozen=True)
class RunHistory:
    """What a run has been asked and has answered so far, in order.

    Attributes:
        request: the body that the run was started with.
        aggregations: the bodies of its aggregations.
        answers: the answers of its periods; the first is to `request`.
    """

    request: bytes
    aggregations: list[bytes]
    answers: list[bytes]


class RunStore:
    """The tables of runs and periods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def adding(self, run: RunRecord, request: bytes, first: PeriodRecord, *, most_bytes: int) -> Callable[[], None]:
        """Pack a new run with its first period, which takes a while; the call that is returned writes it.

        Raises:
            QuotaError: the owner would keep more than `most_bytes` (when it is written).
            KeyTakenError: its idempotency key has made something meanwhile (likewise).
        """
        packed, answer = zlib.compress(request, 1), zlib.compress(first.answer, 1)
        size = ROW_BYTES + len(packed) + _size(first, answer)

        def write() -> None:
            with self._store.write() as t:
                t.change(
                    f"INSERT INTO runs ({_RUN}, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                    run.id,
                    run.owner,
                    run.created_at,
                    run.n_devices,
                    run.sample_size,
                    run.horizon,
                    run.aggregation_period,
                    packed,
                )
                _insert(t, first, answer)
                more = tell(t, "run", run.id, run.owner, run.about)
                charge(t, self._store, run.owner, "run", run.id, size=size + more, limit=most_bytes)

        return write

    def find(self, owner: str, run_id: str) -> RunRecord | None:
        """The run, if there is one and it is this owner's."""
        with self._store.read() as t:
            return _run(t, owner, run_id)

    def find_with_aggregation(self, owner: str, run_id: str) -> tuple[RunRecord, int] | None:
        """The run and its last answered aggregation."""
        with self._store.read() as t:
            run = _run(t, owner, run_id)
            return None if run is None else (run, _last_aggregations(t, [run_id]).get(run_id, 0))

    def page(self, owner: str, page: Page) -> list[tuple[RunRecord, int]]:
        """A page of the owner's runs, and one more if there are more, with their last answered aggregations."""
        with self._store.read() as t:
            runs = [_record(row) for row in owned_page(t, "run", _SHOWN, owner, page)]
            last = _last_aggregations(t, [run.id for run in runs])
        return [(run, last.get(run.id, 0)) for run in runs]

    def periods(self, run_id: str, limit: int, after: int) -> list[PeriodEntry]:
        """The answered periods after aggregation `after`, in order."""
        sql = "SELECT aggregation, request, created_at FROM periods WHERE run_id = ? AND aggregation > ? "
        with self._store.read() as t:
            rows = t.rows(f"{sql} ORDER BY aggregation LIMIT ?", run_id, after, limit)
        return [PeriodEntry(aggregation, bytes(request), made) for aggregation, request, made in rows]

    def delete(self, owner: str, run_id: str) -> bool:
        """Forget a run and its periods; whether there was one."""
        sql = "DELETE FROM runs WHERE id = ? AND owner = ?"
        return bool(self._store.delete(lambda t: t.change(sql, run_id, owner)))

    def requests(self, run_id: str) -> tuple[bytes, list[bytes]] | None:
        """The body that the run was started with, and those of its aggregations; None if there is no such run."""
        with self._store.read() as t:
            return _requests(t, run_id)

    def history(self, run_id: str) -> RunHistory | None:
        """What the run has been asked and has answered so far; None if there is no such run."""
        with self._store.read() as t:
            asked = _requests(t, run_id)
            rows = t.rows("SELECT answer FROM periods WHERE run_id = ? ORDER BY aggregation", run_id)
        return None if asked is None else RunHistory(*asked, [zlib.decompress(answer) for (answer,) in rows])

    def last_aggregation(self, run_id: str) -> int:
        """The last answered aggregation of a run."""
        with self._store.read() as t:
            return _last_aggregations(t, [run_id]).get(run_id, 0)

    def request_digest(self, run_id: str, aggregation: int) -> str | None:
        """Of the body that an aggregation was answered for; None if it was not answered."""
        return self._of_period("request_digest", run_id, aggregation)

    def state(self, run_id: str, aggregation: int) -> str | None:
        """The state after a period, as JSON; None if it was not answered."""
        return self._of_period("state", run_id, aggregation)

    def _of_period(self, column: Literal["request_digest", "state"], run_id: str, aggregation: int) -> str | None:
        sql = f"SELECT {column} FROM periods WHERE run_id = ? AND aggregation = ?"  # noqa: S608 - constants
        with self._store.read() as t:
            rows = t.rows(sql, run_id, aggregation)
        return str(rows[0][0]) if rows else None

    def packed_answer(self, run_id: str, aggregation: int, reserve: Callable[[int], None]) -> bytes | None:
        """A period's answer as zlib packed it. `reserve` is told its size before it is read, and may refuse."""
        where = "FROM periods WHERE run_id = ? AND aggregation = ?"
        with self._store.read() as t:
            for (size,) in t.rows(f"SELECT length(answer) {where}", run_id, aggregation):
                reserve(size)
            rows = t.rows(f"SELECT answer {where}", run_id, aggregation)
        return bytes(rows[0][0]) if rows else None

    def adding_period(self, owner: str, period: PeriodRecord, *, most_bytes: int) -> Callable[[], bool]:
        """Pack an answered period of the owner's run, which takes a while; the call that is returned writes it.

        That returns False if another process was first, or the run is gone.

        Raises:
            QuotaError: the owner would keep more than `most_bytes` (when it is written).
        """
        answer = zlib.compress(period.answer, 1)
        size = _size(period, answer)

        def write() -> bool:
            try:
                with self._store.write() as t:
                    added = bool(_insert(t, period, answer))
                    if added:
                        charge(t, self._store, owner, "run", period.run_id, size=size, limit=most_bytes)
                    return added
            except GoneError:
                return False

        return write


def _run(t: ReadTransaction, owner: str, run_id: str) -> RunRecord | None:
    rows = t.rows(f"{joined('run', _SHOWN)} x.id = ? AND x.owner = ?", run_id, owner)
    return _record(rows[0]) if rows else None


def _record(row: tuple[Any, ...]) -> RunRecord:
    return RunRecord(*(*row[:-3], read_about(*row[-3:])))


def _requests(t: ReadTransaction, run_id: str) -> tuple[bytes, list[bytes]] | None:
    run = t.rows("SELECT request FROM runs WHERE id = ?", run_id)
    sql = "SELECT request FROM periods WHERE run_id = ? AND aggregation > 0 ORDER BY aggregation"
    told = [bytes(request) for (request,) in t.rows(sql, run_id)]
    return (zlib.decompress(run[0][0]), told) if run else None


def _last_aggregations(t: ReadTransaction, run_ids: list[str]) -> dict[str, int]:
    """The last answered aggregation of each run."""
    if not run_ids:
        return {}
    marks = ", ".join("?" * len(run_ids))
    sql = f"SELECT run_id, MAX(aggregation) FROM periods WHERE run_id IN ({marks}) GROUP BY run_id"  # noqa: S608
    return {run: int(last) for run, last in t.rows(sql, *run_ids)}


def _size(period: PeriodRecord, answer: bytes) -> int:
    return ROW_BYTES + len(period.request) + len(period.state) + len(answer)


def _insert(t: Transaction, period: PeriodRecord, answer: bytes) -> int:
    return t.change(
        f"INSERT INTO periods ({_PERIOD}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",  # noqa: S608 - constants
        period.run_id,
        period.aggregation,
        period.request_digest,
        period.request,
        period.state,
        answer,
        period.created_at,
    )
