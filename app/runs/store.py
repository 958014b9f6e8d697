"""Runs and their periods in the store. Rows are written once; of a run only the number of devices may grow.

A period is written by whichever process is first, in one transaction with the state and the conditions that follow from
it. Of the conditions only the present ones are kept, so that they do not grow with the run.
"""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.store import Store
from app.store.about import About, joined, read_about, tell
from app.store.database import GoneError, ReadTransaction, Transaction
from app.store.outbox import announce
from app.store.paging import Page, owned_page
from app.store.usage import ROW_BYTES, charge

__all__ = ["PeriodEntry", "PeriodRecord", "RunHistory", "RunPlace", "RunRecord", "RunStore"]

_RUN = "id, owner, created_at, n_devices, sample_size, horizon, aggregation_period"
# With when it last grew; rows of an earlier release have 0 until they do.
_SHOWN = (
    "x.id, x.owner, x.created_at, x.n_devices, x.sample_size, x.horizon, x.aggregation_period, "
    "COALESCE((SELECT NULLIF(u.grown_at, 0) FROM usage u WHERE u.run_id = x.id), x.created_at)"
)
_PERIOD = "run_id, aggregation, request_digest, request, state, answer, created_at, told"
# JSON begins with a brace, what zlib packed does not; earlier releases did not pack what an aggregation reported.
_PLAIN = b"{"


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
        told: what lists and events tell of it, as JSON.
        conditions: the run's conditions from now on (`app.runs.conditions`); None if they are as before.
        n_devices: how many devices the run has from now on; 0 if as many as before.
    """

    run_id: str
    aggregation: int
    request_digest: str
    request: bytes
    state: str
    answer: bytes
    created_at: float
    told: str
    conditions: bytes | None
    n_devices: int = 0


@dataclass(frozen=True)
class PeriodEntry:
    """An answered period in a list; of those of an earlier release only the request is known."""

    aggregation: int
    summary: str | None
    created_at: float | None
    request: bytes | None = None

    def told(self) -> dict[str, Any]:
        """What lists and events tell of it."""
        if self.summary is not None:
            told: dict[str, Any] = json.loads(self.summary)
            return told
        return {"gradient_norm": json.loads(_unpacked(bytes(self.request)))["gradient_norm"]} if self.request else {}


@dataclass(frozen=True)
class RunPlace:
    """Where a run is when aggregation k is reported.

    Attributes:
        answered: the digest of what k was answered for; None if it was not.
        before: the state after period k − 1, as JSON; None if there is no such period.
        conditions: from then on; None if an earlier release wrote the run.
    """

    answered: str | None
    before: str | None
    conditions: bytes | None


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
        packed, rows = zlib.compress(request, 1), _Rows.of(first)
        size = ROW_BYTES + len(packed) + rows.size

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
                rows.insert(t)
                size_now = size + rows.replace_conditions(t)
                more = tell(t, "run", run.id, run.owner, run.about)
                charge(t, run.owner, "run", run.id, run.updated_at, size=size_now + more, limit=most_bytes)
                announce(t, run.owner, "run.started", run.id, {"aggregation": 0})

        return write

    def find(self, owner: str, run_id: str) -> RunRecord | None:
        """The run, if there is one and it is this owner's."""
        with self._store.read() as t:
            return _run(t, owner, run_id)

    def page(self, owner: str, page: Page) -> list[tuple[RunRecord, int]]:
        """A page of the owner's runs, and one more if there are more, with their last answered aggregations."""
        with self._store.read() as t:
            runs = [_record(row) for row in owned_page(t, "run", _SHOWN, owner, page)]
            last = _last_aggregations(t, [run.id for run in runs])
        return [(run, last.get(run.id, 0)) for run in runs]

    def periods(self, run_id: str, limit: int, after: int) -> list[PeriodEntry]:
        """The answered periods after aggregation `after`, in order."""
        columns = "aggregation, told, created_at, CASE WHEN told IS NULL THEN request END"
        sql = f"SELECT {columns} FROM periods WHERE run_id = ? AND aggregation > ? "  # noqa: S608 - constants
        with self._store.read() as t:
            return [PeriodEntry(*row) for row in t.rows(f"{sql} ORDER BY aggregation LIMIT ?", run_id, after, limit)]

    def place(self, run_id: str, aggregation: int) -> RunPlace:
        """Where the run is when this aggregation is reported."""
        sql = "SELECT aggregation, request_digest, state FROM periods WHERE run_id = ? AND aggregation IN (?, ?)"
        with self._store.read() as t:
            found = {k: row for k, *row in t.rows(sql, run_id, aggregation - 1, aggregation)}
            kept = t.rows("SELECT conditions FROM run_conditions WHERE run_id = ?", run_id)
        answered, before = found.get(aggregation), found.get(aggregation - 1)
        return RunPlace(
            None if answered is None else str(answered[0]),
            None if before is None else str(before[1]),
            bytes(kept[0][0]) if kept else None,
        )

    def now(self, owner: str, run_id: str) -> tuple[RunRecord, PeriodEntry, str] | None:
        """The run with its last period and the state after it; None if the owner has no such run."""
        sql = "SELECT aggregation, told, created_at, state FROM periods WHERE run_id = ? "
        with self._store.read() as t:
            run = _run(t, owner, run_id)
            rows = t.rows(f"{sql} ORDER BY aggregation DESC LIMIT 1", run_id)
        return None if run is None or not rows else (run, PeriodEntry(*rows[0][:3]), str(rows[0][3]))

    def delete(self, owner: str, run_id: str) -> bool:
        """Forget a run and its periods; whether there was one."""
        sql = "DELETE FROM runs WHERE id = ? AND owner = ?"
        return bool(self._store.delete(lambda t: t.change(sql, run_id, owner)))

    def original(self, run_id: str) -> bytes | None:
        """The body that the run was started with; None if there is no such run."""
        with self._store.read() as t:
            rows = t.rows("SELECT request FROM runs WHERE id = ?", run_id)
        return zlib.decompress(rows[0][0]) if rows else None

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
        sql = "SELECT request_digest FROM periods WHERE run_id = ? AND aggregation = ?"
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
        rows = _Rows.of(period)

        def write() -> bool:
            try:
                with self._store.write() as t:
                    added = rows.insert(t)
                    if added:
                        size = rows.size + rows.replace_conditions(t)
                        more = "UPDATE runs SET n_devices = ? WHERE id = ? AND n_devices < ?"
                        t.change(more, period.n_devices, period.run_id, period.n_devices)
                        charge(t, owner, "run", period.run_id, period.created_at, size=size, limit=most_bytes)
                        announce(t, owner, "run.aggregated", period.run_id, {"aggregation": period.aggregation})
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
    told = [_unpacked(bytes(request)) for (request,) in t.rows(sql, run_id)]
    return (zlib.decompress(run[0][0]), told) if run else None


def _last_aggregations(t: ReadTransaction, run_ids: list[str]) -> dict[str, int]:
    """The last answered aggregation of each run."""
    if not run_ids:
        return {}
    marks = ", ".join("?" * len(run_ids))
    sql = f"SELECT run_id, MAX(aggregation) FROM periods WHERE run_id IN ({marks}) GROUP BY run_id"  # noqa: S608
    return {run: int(last) for run, last in t.rows(sql, *run_ids)}


def _unpacked(request: bytes) -> bytes:
    return request if request.startswith(_PLAIN) or not request else zlib.decompress(request)


@dataclass(frozen=True)
class _Rows:
    """A period packed for the store, and how many bytes it takes there, but for its conditions."""

    period: PeriodRecord
    request: bytes
    answer: bytes

    @classmethod
    def of(cls, period: PeriodRecord) -> "_Rows":
        return cls(period, zlib.compress(period.request, 1), zlib.compress(period.answer, 1))

    @property
    def size(self) -> int:
        return ROW_BYTES + len(self.request) + len(self.period.state) + len(self.answer) + len(self.period.told)

    def insert(self, t: Transaction) -> bool:
        """Write the period; whether no other process was first."""
        period = self.period
        added = t.change(
            f"INSERT INTO periods ({_PERIOD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",  # noqa: S608
            period.run_id,
            period.aggregation,
            period.request_digest,
            self.request,
            period.state,
            self.answer,
            period.created_at,
            period.told,
        )
        return bool(added)

    def replace_conditions(self, t: Transaction) -> int:
        """Write the run's conditions over those before, if they changed; returns by how many bytes they grow."""
        new = self.period.conditions
        if new is None:
            return 0
        old = t.rows("SELECT length(conditions) FROM run_conditions WHERE run_id = ?", self.period.run_id)
        t.change(
            "INSERT INTO run_conditions (run_id, conditions) VALUES (?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET conditions = excluded.conditions",
            self.period.run_id,
            new,
        )
        return len(new) - (int(old[0][0]) if old else -ROW_BYTES)
