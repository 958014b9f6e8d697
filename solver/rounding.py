"""Whole datapoints of one step, link by link, within every budget of the step (`solver.orders`)."""

from typing import NamedTuple

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Room", "Waiting", "whole_sends"]

# A sum of shares that is full has rounding errors.
_FULL = 1 + 2e-10


class Waiting(NamedTuple):
    """The links on which datapoints wait.

    sender, receiver: positions in the columns of `Room`; cost, fresh: ψ and 1 − λ of a datapoint; sure: how many the
    plan sends over the link in this step, rounded down; due: how many wait; behind: by how much the link is behind the
    plan if it sends nothing.
    """

    sender: IntArray
    receiver: IntArray
    cost: FloatArray
    fresh: FloatArray
    sure: IntArray
    due: IntArray
    behind: FloatArray


class Room(NamedTuple):
    """The most of a step: of each sender's budget and datapoints, and of what each receiver can take."""

    budget: FloatArray
    datapoints: FloatArray
    receive: FloatArray

    def after(self, links: Waiting, count: IntArray) -> "Room":
        """What is left when links have sent these counts."""
        spent = np.bincount(links.sender, links.cost * count, self.budget.size)
        sent = np.bincount(links.sender, count, self.datapoints.size)
        arrived = np.bincount(links.receiver, links.fresh * count, self.receive.size)
        left = (self.budget - spent, self.datapoints - sent, self.receive - arrived)
        return Room(*(np.maximum(column, 0.0) for column in left))

    def fit(self, links: Waiting, chosen: IntArray, count: IntArray) -> BoolArray:
        """Which of the chosen links, best first, can send their counts: each together with those before it."""
        sender, receiver, number = links.sender[chosen], links.receiver[chosen], count[chosen]
        fits = _within(self.budget, sender, links.cost[chosen] * number)
        fits &= _within(self.datapoints, sender, number.astype(np.float64))
        some = np.flatnonzero(fits)
        fits[some] = _within(self.receive, receiver[some], (links.fresh[chosen] * number)[some])
        return fits


def whole_sends(links: Waiting, room: Room) -> IntArray:
    """How many datapoints each link sends.

    First each link sends what is sure. Then links send one datapoint more in turns, those first that are the farthest
    behind, until nothing that waits fits.
    """
    count = np.minimum(links.sure, links.due)
    everyone = np.arange(count.size)
    # All of it fits, unless the plan itself passes a budget.
    count = np.where(room.fit(links, everyone, count), count, 0)
    one = np.ones_like(count)
    turn = np.flatnonzero(count < links.due)
    while turn.size:
        left = room.after(links, count)
        alone = links.cost[turn] <= left.budget[links.sender[turn]]
        alone &= left.datapoints[links.sender[turn]] >= 1
        alone &= links.fresh[turn] <= left.receive[links.receiver[turn]]
        turn = turn[alone]
        turn = turn[np.argsort(count[turn] - links.behind[turn], kind="stable")]
        sending = turn[left.fit(links, turn, one)]
        if not sending.size:
            break
        count[sending] += 1
        turn = np.sort(turn[count[turn] < links.due[turn]])
    return count


def _within(limit: FloatArray, group: IntArray, amount: FloatArray) -> BoolArray:
    """Which amounts stay within their group's limit, added up in the order given."""
    order = np.argsort(group, kind="stable")
    groups = group[order]
    # As shares of the limit, since a sum over all groups would lose the digits of small ones.
    most = limit[groups]
    share = np.divide(amount[order], most, out=np.where(amount[order] > 0, 2.0, 0.0), where=most > 0)
    share = np.minimum(share, 2.0)
    total = np.cumsum(share)
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    before = np.repeat((total - share)[begins], np.diff(begins, append=groups.size))
    fits = np.empty(group.size, np.bool_)
    fits[order] = total - before <= _FULL
    return fits
