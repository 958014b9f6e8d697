"""What runs on a device: which of its datapoints go where, and what a receiver keeps.

Orders speak of places in the sender's own shuffled order (docs/client.md). The order is a function of a seed that never
leaves the device, and stays the same over restarts and releases: places are sorted by SplitMix64 of seed and place.
"""

import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedsift_client.errors import InputError
from fedsift_client.orders import Order, Shipment

__all__ = ["Courier", "Inbox", "Parcel", "shuffled"]

_CHUNK = 512  # rows of distances held at once


def shuffled(datapoints: int, seed: int | str) -> NDArray[np.int64]:
    """The numbers 0 … datapoints − 1 in an order that only the seed decides."""
    start = int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8], "little")
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is meant
        z = np.uint64(start) + (np.arange(datapoints, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return np.argsort(z, kind="stable").astype(np.int64)


@dataclass(frozen=True)
class Parcel:
    """Datapoints to be sent.

    Attributes:
        shipment: where they go and in which step; `first` and `count` are what is left of it.
        datapoints: the numbers of the datapoints, as the device stores them.
    """

    shipment: Shipment
    datapoints: NDArray[np.int64]


class Courier:
    """Turns a device's orders into its own datapoints, and remembers what was sent.

    Args:
        datapoints: how many datapoints the device holds; those of an order are among the first so many.
        seed: the device's own; the same one after a restart.
        journal: a file that remembers what was sent; without it a restarted device sends again from the start, and
            receivers drop what they have. One journal serves one run.
    """

    def __init__(self, datapoints: int, *, seed: int | str, journal: Path | str | None = None) -> None:
        if datapoints < 0:
            raise InputError("a device cannot hold fewer than no datapoints")
        self.order = shuffled(datapoints, seed)
        self._journal = None if journal is None else Path(journal)
        # By step too: ranges of a pair overlap only if the receiver has lost what it had, and it is sent again.
        self._sent: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for step, to, first, count in _entries(self._journal):
            self._sent[step, to].append((first, first + count))

    def parcels(self, order: Order, *, step: int | None = None) -> Iterator[Parcel]:
        """What is still to be sent, step by step; `step` selects one."""
        for one in sorted(order.sends, key=lambda shipment: (shipment.step, shipment.to, shipment.first)):
            if one.first < 0 or one.count < 0 or one.first + one.count > self.order.size:
                raise InputError(
                    f"the order names datapoints {one.first} to {one.first + one.count - 1}; "
                    f"this device holds {self.order.size}"
                )
            if step is not None and one.step != step:
                continue
            for first, end in _without(one.first, one.first + one.count, self._sent[one.step, one.to]):
                left = Shipment(one.step, one.to, first, end - first, one.to_id)
                yield Parcel(left, self.order[first:end])

    def sent(self, parcel: Parcel, count: int | None = None) -> None:
        """Note that a parcel has arrived, or its first `count` datapoints; it survives a crash of the device."""
        done = parcel.shipment.count if count is None else count
        if not 0 <= done <= parcel.shipment.count:
            raise InputError(f"the parcel has {parcel.shipment.count} datapoints, not {done}")
        step, to, first = parcel.shipment.step, parcel.shipment.to, parcel.shipment.first
        if self._journal is not None and done:
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps([step, to, first, done]) + "\n")
                file.flush()
                os.fsync(file.fileno())
        self._sent[step, to].append((first, first + done))

    def arrived(self, order: Order) -> dict[int, int]:
        """How many datapoints of an order each receiver has, without gaps from the first; also those before a restart.

        This is what the service is told of a period (`delivered`): the next orders begin where these end.
        """
        found: dict[int, int] = {}
        gaps: set[int] = set()
        for one in sorted(order.sends, key=lambda shipment: (shipment.to, shipment.first)):
            left = next(_without(one.first, one.first + one.count, self._sent[one.step, one.to]), None)
            if one.to not in gaps:
                found[one.to] = found.get(one.to, 0) + (one.count if left is None else left[0] - one.first)
            if left is not None:
                gaps.add(one.to)
        return found


class Inbox:
    """Says which of the datapoints that arrive a device does not have yet.

    A datapoint counts as had if one of the same label, held before or kept since, lies within a distance `within` of it
    (the paper's ε₀). With 0, only exact copies do: what a sender repeats after a broken connection.

    Args:
        features: what the device holds, a row for each datapoint.
        labels: their classes; without them all datapoints are of one class.
        within: ε₀, in the features' own distance.
    """

    def __init__(
        self, features: NDArray[np.float64], labels: NDArray[np.int64] | None = None, *, within: float = 0.0
    ) -> None:
        if not within >= 0:
            raise InputError("a distance is not negative")
        self._within = within
        self._width = _rows(features).shape[1]
        self._held: defaultdict[int, list[NDArray[np.float64]]] = defaultdict(list)
        self._copies: set[bytes] = set()
        rows, classes = self._checked(features, labels)
        for label in np.unique(classes):
            self._held[int(label)].append(rows[classes == label])
        self._copies.update(_digests(rows, classes))

    def take(self, features: NDArray[np.float64], labels: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Which of these to keep, as a mask; those count as held from now on."""
        rows, classes = self._checked(features, labels)
        kept = np.zeros(len(rows), np.bool_)
        for i, digest in enumerate(_digests(rows, classes)):
            if digest in self._copies or self._has_near(rows[i], int(classes[i])):
                continue
            kept[i] = True
            self._copies.add(digest)
            if self._within > 0:
                self._held[int(classes[i])].append(rows[i : i + 1])
        return kept

    def _has_near(self, row: NDArray[np.float64], label: int) -> bool:
        if self._within == 0:
            return False
        held = self._held[label]
        if len(held) > _CHUNK:
            held[:] = [np.concatenate(held)]
        return any(bool((np.linalg.norm(part - row, axis=1) <= self._within).any()) for part in held)

    def _checked(
        self, features: NDArray[np.float64], labels: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        rows = _rows(features)
        classes = np.zeros(len(rows), np.int64) if labels is None else np.asarray(labels, np.int64)
        if rows.shape[1] != self._width or classes.shape != (len(rows),):
            raise InputError(f"datapoints have {self._width} features and one label each")
        return rows, classes


def _rows(features: NDArray[np.float64]) -> NDArray[np.float64]:
    array = np.ascontiguousarray(features, np.float64)
    return array.reshape(len(array), math.prod(array.shape[1:]))  # −1 would not do for no rows


def _digests(rows: NDArray[np.float64], classes: NDArray[np.int64]) -> list[bytes]:
    # Adding 0 makes −0 and 0 the same bytes.
    return [
        hashlib.blake2b(
            (row + 0.0).tobytes(), digest_size=16, key=int(label).to_bytes(8, "little", signed=True)
        ).digest()
        for row, label in zip(rows, classes, strict=True)
    ]


def _entries(journal: Path | None) -> Iterator[tuple[int, int, int, int]]:
    """What was sent. The last line may be cut short by a crash: it is taken away, and its parcel is sent again."""
    if journal is None or not journal.exists():
        return
    written = journal.read_bytes()
    whole = written[: written.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines()):
        try:
            step, to, first, count = json.loads(line)
        except ValueError as error:
            raise InputError(f"{journal} is not a journal: line {number + 1}") from error
        yield int(step), int(to), int(first), int(count)
    if len(whole) < len(written):
        os.truncate(journal, len(whole))


def _without(first: int, end: int, sent: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of first … end that are in none of the ranges."""
    for one, other in sorted(sent):
        if other <= first or one >= end:
            continue
        if one > first:
            yield first, one
        first = max(first, other)
    if first < end:
        yield first, end
