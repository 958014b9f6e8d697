"""The datapoints that sampled devices really hold while a plan is carried out.

(`sampler.objectives.holdings` is another thing: an estimate, before any plan, of what devices would hold.)

At step t sender k draws Φ_ki·D_k of its datapoints at random and sends them to i (Sec. II-D). The receiver drops a
datapoint that is similar to one of its initial data, or that k has sent before: the similarity model counts these as
overlapping. Let U_ki be the share of k's data that is not yet covered at i. Then the expected useful data is
Φ_ki·D_k·U_ki, and U shrinks by the factor 1 − Φ_ki: eqs. (7) and (8) with Λ = 1 − U. The plan only has an estimate of
Λ(0), from a broadcast sample; here Λ(0) is exact.

If a plan sends once, its orders are carried out (`solver.orders`): each sender shuffles its data once, and sends each
receiver the next `count` datapoints of that order, so that it never repeats itself. With `lacking`, it sends those of
the labels first of which the receiver holds fewest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.images import Images
from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.label_order import scarce_first
from fedl_sim.network.partition import Partition
from fedl_sim.network.similarity import nearest_same_label
from fedl_sim.randomness import stream

__all__ = ["Arrivals", "Holdings", "Transfer"]


@dataclass(frozen=True)
class Transfer:
    """Φ_ki(t) for one link: `source` sends this fraction of its data to `target`.

    With an order, `count` is how many whole datapoints it completes; without one, the fraction is rounded at random. Of
    what is sent, `share` arrives.
    """

    source: int
    target: int
    fraction: float
    count: int | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.fraction <= 1 + 1e-9:
            raise ValueError(f"a fraction must lie in [0, 1], not {self.fraction}")


@dataclass(frozen=True)
class Arrivals:
    """The result of one step's transfers.

    Attributes:
        sent: datapoints sent over the links.
        useful: datapoints that receivers kept.
        transmit_cost: Σ ψ · sent.
        per_transfer: useful datapoints per transfer, in the order given.
        delivered: the share of what was sent that arrived, per transfer.
    """

    sent: int
    useful: int
    transmit_cost: float
    per_transfer: tuple[int, ...]
    delivered: tuple[float, ...]


class Holdings:
    """D_i(t) of the sampled devices through a run; it grows as data arrives.

    Besides the parameters this is the only mutable state of a simulation. It takes one integer for each datapoint that
    a sampled device holds, and for each link in use one flag for each datapoint of the sender.
    """

    def __init__(
        self,
        images: Images,
        partition: Partition,
        sampled: Sequence[int],
        radius: float,
        *,
        send_once: bool = False,
        lacking: bool = False,
    ) -> None:
        if lacking and not send_once:
            raise InvalidSettingError("only who sends once can send the labels first that a receiver lacks")
        self._images = images
        self._partition, self._first_sizes = partition, partition.sizes
        self._radius = radius
        self._held = {int(i): partition.of(i) for i in sampled}
        self._covered: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self._send_once = send_once
        self._sent: dict[tuple[int, int], int] = {}
        self._lacking = lacking
        self._orders: dict[tuple[int, int], NDArray[np.int64]] = {}

    def data(self, device: int) -> NDArray[np.int64]:
        """Return D_i(t) as rows of the training split."""
        return self._held[device]

    def received(self, device: int) -> int:
        """How many datapoints it has received and kept; none if it cannot receive."""
        return len(self._held[device]) - len(self._partition.of(device)) if device in self._held else 0

    @property
    def devices(self) -> list[int]:
        """The devices that may receive."""
        return list(self._held)

    def covered(self, source: int, target: int) -> NDArray[np.bool_]:
        """Return for each datapoint of the source whether the target would drop it; the mean is Λ_ki(t)."""
        pair = (source, target)
        if pair not in self._covered:
            sent = self._partition.of(source)
            first = self._partition.of(target)
            self._covered[pair] = nearest_same_label(self._images, sent, first) <= self._radius
        return self._covered[pair]

    def admit(self, device: int) -> None:
        """Let a device receive: it holds its own data, and what it has received since it was last lost."""
        self._held.setdefault(device, self._partition.of(device))

    def drop(self, device: int) -> None:
        """Lose a device: what it received is gone, and senders begin anew if it comes back."""
        self._held.pop(device, None)
        for pair in [pair for pair in self._covered if pair[1] == device]:
            del self._covered[pair]
            self._sent.pop(pair, None)
            self._orders.pop(pair, None)

    def renew(self, partition: Partition) -> None:
        """Let devices replace data of their own, get more, or lose their last; what they received stays.

        A receiver compares a sender's new datapoint with its own data, as at the start. A sender that sends once does
        not return to the places in its order that it has passed.
        """
        if partition is self._partition:
            return
        before, self._partition = self._partition, partition
        for device, held in self._held.items():
            self._held[device] = np.concatenate([partition.of(device), held[before.sizes[device] :]])
        for (source, target), covered in self._covered.items():
            old, now = before.of(source), partition.of(source)
            same = np.zeros(len(now), np.bool_)
            both = min(len(old), len(now))
            same[:both] = old[:both] == now[:both]
            kept = np.zeros(len(now), np.bool_)
            kept[same] = covered[: len(now)][same[: len(covered)]]
            if not same.all():
                first = partition.of(target)
                kept[~same] = nearest_same_label(self._images, now[~same], first) <= self._radius
            self._covered[source, target] = kept

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what has changed since the start as plain arrays: the data received, and what each link covers."""
        devices = np.array(sorted(self._held), np.int64)
        received = [self._held[i][len(self._partition.of(i)) :] for i in devices.tolist()]
        pairs = sorted(self._covered)
        covered = [np.packbits(self._covered[pair]) for pair in pairs]
        return {
            "devices": devices,
            "received": np.concatenate([np.empty(0, np.int64), *received]),
            "received_counts": np.array([len(rows) for rows in received], np.int64),
            "pairs": np.array(pairs, np.int64).reshape(-1, 2),
            "covered": np.concatenate([np.empty(0, np.uint8), *covered]),
            "sent": np.array([self._sent.get(pair, 0) for pair in pairs], np.int64),
        }

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Return to the state that `to_arrays` wrote, with the partition of then."""
        self._held = {}
        ends = np.cumsum(arrays["received_counts"]).tolist()
        for device, count, end in zip(
            arrays["devices"].tolist(), arrays["received_counts"].tolist(), ends, strict=True
        ):
            rows = arrays["received"][end - count : end].astype(np.int64)
            self._held[device] = np.concatenate([self._partition.of(device), rows])
        begin = 0
        pairs = arrays["pairs"].tolist()
        # Checkpoints of earlier releases do not say what was sent; their plans redraw.
        sent = arrays["sent"].tolist() if "sent" in arrays else [0] * len(pairs)
        self._sent = {(source, target): count for (source, target), count in zip(pairs, sent, strict=True)}
        for source, target in pairs:
            size = len(self._partition.of(source))
            end = begin + -(-size // 8)
            packed = arrays["covered"][begin:end].astype(np.uint8)
            self._covered[source, target] = np.unpackbits(packed, count=size).astype(np.bool_)
            begin = end

    def move(
        self,
        transfers: Sequence[Transfer],
        costs: Sequence[float],
        *,
        seed: int,
        purpose: str = "run",
        step: int,
        loss: float = 0.0,
    ) -> Arrivals:
        """Carry out one step's transfers. Each draws from its own stream, so their order does not matter.

        With a `loss`, a datapoint does not arrive with this chance. A transfer of which not all arrives breaks off: its
        last datapoints are lost, and a sender that sends once sends them again in its next transfer.
        """
        sent = 0
        cost = 0.0
        useful: list[int] = []
        delivered: list[float] = []
        new: dict[int, list[NDArray[np.int64]]] = {}
        for transfer, unit_cost in zip(transfers, costs, strict=True):
            rows = self._partition.of(transfer.source)
            generator = stream(seed, "offload", purpose, transfer.source, transfer.target, step)
            count = (
                _round_at_random(transfer.fraction * len(rows), generator) if transfer.count is None else transfer.count
            )
            if self._send_once:
                drawn = self._next(transfer, count, len(rows), stream(seed, "order", purpose, transfer.source))
            else:
                drawn = generator.choice(len(rows), min(count, len(rows)), replace=False)
            tried = len(drawn)
            arriving = round(transfer.share * tried)
            if loss > 0:
                luck = stream(seed, "loss", transfer.source, transfer.target, step)
                arriving = int(luck.binomial(arriving, 1.0 - loss))
            drawn = self._broken_off(transfer, drawn, arriving)
            covered = self.covered(transfer.source, transfer.target)
            kept = drawn[~covered[drawn]]
            covered[kept] = True
            new.setdefault(transfer.target, []).append(rows[np.sort(kept)])
            sent += tried
            cost += unit_cost * tried
            useful.append(len(kept))
            delivered.append(len(drawn) / tried if tried else 1.0)
        for target in sorted(new):
            self._held[target] = np.concatenate([self._held[target], *new[target]])
        return Arrivals(sent, sum(useful), cost, tuple(useful), tuple(delivered))

    def _next(self, transfer: Transfer, count: int, held: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """The next datapoints of the sender's order for this receiver."""
        pair = (transfer.source, transfer.target)
        first = self._sent.get(pair, 0)
        self._sent[pair] = min(first + count, held)
        # What a sender got later follows after what it had at the start.
        begun = int(self._first_sizes[transfer.source])
        order = generator.permutation(begun)
        order = np.concatenate([order[order < held], np.arange(begun, held)])
        if self._lacking:
            order = self._orders.setdefault(pair, order)
            images = self._images
            labels = images.labels[self._partition.of(transfer.source)[order[first:]]]
            tally = np.bincount(images.labels[self._held[transfer.target]], minlength=images.classes)
            order[first:] = order[first:][scarce_first(labels, tally, count)]
        return order[first : self._sent[pair]]

    def _broken_off(self, transfer: Transfer, drawn: NDArray[np.int64], arriving: int) -> NDArray[np.int64]:
        """The datapoints that arrive; the sender knows which did not."""
        if self._send_once:
            self._sent[transfer.source, transfer.target] -= len(drawn) - arriving
        return drawn[:arriving]


def _round_at_random(amount: float, generator: np.random.Generator) -> int:
    """Round up or down at random so that the mean is right; plain rounding would drop transfers below ½."""
    whole = int(np.floor(amount))
    return whole + int(generator.random() < amount - whole)
