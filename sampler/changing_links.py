"""What links bring under conditions that change, as the constant flows that bring the same.

Two numbers say what the sender k of a link k → i makes of the link over the steps t = 1..T, r(s) being the share of its
data that fits step s, and 0 while the link is absent:

- alone, with the whole budget of k: A, the mean over t of the useful data that has arrived by step t;
- with a small part x of the budget at every step: x·B, B the mean over t of Σ_{s≤t} D_k(1 − λ_ki(s))·r(s).

`sampler.objectives.holdings` has one form for each `transfer` of what arrives with any part x, and both have two
parameters. They are chosen here so that the form has this A and this B. If senders redraw, A and B are its parameters.
If they send once, r is not cut off at 1, and by the form A = a·S(n) and B = a·(T + 1)/(2n), where

    S(n) = 1 for n ≤ 1,  (2T + 1 − n)/(2T) for 1 ≤ n ≤ T + 1

is the mean over t of min(1, t/n), between two steps interpolated. So 2n·S(n) = (T + 1)·A/B gives n, and then a. A link
that comes late thus has less data, and takes longer for it; one that ends before all is sent has less data.

A sender does not know of time in this estimate: links at different times still have to share its budget. It takes
O(links) for each segment of the schedule.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sampler.kernels.pool import Flows
from sampler.objectives.reach import sendable_share, steps_needed
from solver.arrays import FloatArray, IntArray
from solver.network import Network
from solver.network.eligibility import data_ceilings
from solver.network.schedule import Schedule
from solver.validation import frozen

__all__ = ["changing_flows"]


def changing_flows(schedule: Schedule, horizon: int, *, once: bool) -> Flows:
    """What flows along all links that there are at some step."""
    network, networks = schedule.at(1), list(schedule.between(1, horizon))
    key = _pairs(networks)
    target, source = np.divmod(key, len(network))
    incoming = np.searchsorted(target, np.arange(len(network) + 1))
    course = _course(schedule, horizon, key, once=once)
    most, pace = _sent_once(course, horizon) if once else _redrawn(course)
    # As in `flows_along`: a receiver whose senders could bring more than it has room for claims less of each.
    total = np.bincount(target, course.alone, len(network))
    fits = np.divide(course.room, total, out=np.ones(len(network)), where=total > course.room)
    return Flows(
        frozen(incoming),
        frozen(source),
        frozen(target),
        frozen(most),
        frozen(pace),
        frozen(course.rate**2 * fits[target]),
        network.devices.data,
        frozen(course.room),
        horizon if once else 0,
    )


def _keys(network: Network) -> IntArray:
    """A number for each link, ascending: links are sorted by target, then source."""
    return network.links.target * np.int64(len(network)) + network.links.source


def _pairs(networks: list[Network]) -> IntArray:
    """The keys of all pairs that are linked in any of these networks."""
    key = _keys(networks[0])
    for before, network in pairwise(networks):
        if network.links is not before.links:
            # Both are sorted, which a stable sort makes use of; `np.union1d` takes many times as long.
            both = np.sort(np.concatenate((key, _keys(network))), kind="stable")
            key = both[np.append(True, both[1:] > both[:-1])]
    return key


class _Course(NamedTuple):
    """Over all steps, of each link A, B, and the mean of (1 − λ)·min(1, r), where earlier steps weigh more as in B.

    And of each device, what it has on the mean from all its links, if it alone is sampled.
    """

    alone: FloatArray
    slope: FloatArray
    rate: FloatArray
    room: FloatArray


# Very large budgets stand for "no limit": then B is ∞, and all arrives at the first step.
@np.errstate(over="ignore")
def _course(schedule: Schedule, horizon: int, key: IntArray, *, once: bool) -> _Course:
    data = schedule.network.devices.data
    sent, sent_to_one = np.zeros((2, key.size))
    held = np.zeros(data.size)
    course = _Course(np.zeros(key.size), np.zeros(key.size), np.zeros(key.size), np.zeros(data.size))
    for segment, ceiling in reversed(list(data_ceilings(schedule, np.arange(data.size), horizon))):
        last = horizon if segment.last is None else min(segment.last, horizon)
        steps, later = last - segment.first + 1, horizon - last
        network, links, theta = segment.network, segment.network.links, segment.network.devices.receive_capacity
        here = slice(None) if len(links) == key.size else np.searchsorted(key, _keys(network))
        new = 1.0 - links.similarity
        fresh = data[links.source] * new
        limit = np.maximum(ceiling - data, 0.0)
        needed = steps_needed(network)
        share = sendable_share(needed)
        # What is sent at a step counts from then on.
        weight = steps * (later + 0.5 * (steps + 1))
        course.slope[here] += weight * _at_once(fresh, needed if once else np.maximum(needed, 1.0))
        course.rate[here] += new * share * weight
        now, arrived = _arriving(share, 1.0 - sent[here], steps, once=once)
        course.alone[here] += fresh * (now + later * arrived)
        sent[here] += arrived
        now, arrived = _arriving(share, 1.0 - sent_to_one[here], steps, once=once)
        coming, come = (np.bincount(links.target, fresh * each, data.size) for each in (now, arrived))
        fits = np.minimum(limit - held, steps * theta)
        taken = np.minimum(come, fits)
        course.room[:] += np.minimum(coming, _filling(theta, fits, steps)) + later * taken
        held += taken
        part = np.divide(taken, come, out=np.zeros(data.size), where=come > 0)
        sent_to_one[here] += arrived * part[links.target]
    middle = 0.5 * horizon * (horizon + 1)
    return _Course(course.alone / horizon, course.slope / horizon, course.rate / middle, course.room / horizon)


def _at_once(fresh: FloatArray, needed: FloatArray) -> FloatArray:
    """Useful data over the steps that it needs; ∞ if sending costs nothing."""
    return np.divide(fresh, needed, out=np.where(fresh > 0, np.inf, 0.0), where=needed > 0)


def _arriving(share: FloatArray, left: FloatArray, steps: int, *, once: bool) -> tuple[FloatArray, FloatArray]:
    """The sum over some steps of the share of a link's data that has arrived since they began, and that share at last.

    `left` is the share that had not arrived by then, and `share` what fits a step.
    """
    if once:
        return _filling(share, left, steps), np.minimum(share * steps, left)
    with np.errstate(divide="ignore"):
        unsent = np.expm1(steps * np.log1p(-share))
    small = share * steps < 1e-6
    some = np.where(small, 1.0, share)
    whole = np.where(small, 0.5 * share * steps * (steps + 1), steps + (1.0 - some) * unsent / some)
    return left * whole, -left * unsent


def _filling(share: FloatArray, left: FloatArray, steps: int) -> FloatArray:
    """Σ_{j=1..steps} min(share·j, left), interpolated between two steps as in `sent_once`."""
    h = np.divide(left, share, out=np.full(share.size, np.inf), where=share > 0)
    h = np.clip(h, 1.0, steps + 1.0)
    filled: FloatArray = 0.5 * h * (h - 1.0) * share + (steps + 1.0 - h) * left
    return filled


def _redrawn(course: _Course) -> tuple[FloatArray, FloatArray]:
    """Return what a link brings alone, and how that falls with its part of the budget."""
    alone, slope = course.alone, course.slope
    ratio = np.divide(slope, alone, out=np.ones(alone.size), where=alone > 0)
    return alone, np.maximum(ratio - 1.0, 0.0)


def _sent_once(course: _Course, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Return a and n of each link."""
    alone, slope, T = course.alone, course.slope, horizon
    ratio = np.minimum(np.divide(alone, slope, out=np.zeros(alone.size), where=slope > 0), 1.0)
    fast = 0.5 * ratio * (T + 1)
    slow = T + 0.5 - np.sqrt((T + 0.5) ** 2 - ratio * T * (T + 1))
    n = np.where(fast <= 1.0, fast, slow)
    # A link that never sends all it may: what arrives grows with its part of the budget, which any n > T says.
    n[ratio > 1.0 - 1e-9] = T + 1.0
    mean = np.where(n <= 1.0, 1.0, (2 * T + 1 - n) / (2 * T))
    return alone / mean, n
