"""What one set of devices would hold, and what each further device would add, while devices join and leave the set.

The letters and the estimate are those of `kernels.pool`. A device c that joins the set changes what comes from its
senders, for they divide their budget anew, and what its own receivers get, for it sends nothing any more. Members that
receive less than before may have room again. All this is found along the links of c, of its senders, and of the members
that are full; nothing else is looked at. The gain of a device stays valid until a device joins or leaves near it.
"""

from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from sampler.kernels.pool import Claims, Flows, Sums, arriving
from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.layout import Effort

__all__ = ["Features", "Scratch", "State", "receivers_of", "renew", "tangents", "toggle"]

# Devices between two looks at the clock.
_AT_ONCE = 64


class Features(NamedTuple):
    """Of each device: the row to be summed over the data held, and the weight of its square (empty: none)."""

    rows: FloatArray
    weight: FloatArray


class State(NamedTuple):
    """The set, and what is known of it.

    Of each device: whether it is a `member`; the first of its links to members (`head`, −1: none) and the sums of
    their `claims`; what the members hold of its data (`held`); and as a member what arrives (`received`) and the part
    of it that `fits`. Of each link into a member: the next link of its sender to a member (`following`) and what
    arrives over it (`arrived`). `stale` are devices whose gain is to be computed anew. The receivers of device k are
    receivers[outgoing[k]:outgoing[k + 1]].
    """

    member: BoolArray
    head: IntArray
    claims: Claims
    held: FloatArray
    received: FloatArray
    fits: FloatArray
    following: IntArray
    arrived: FloatArray
    stale: BoolArray
    outgoing: IntArray
    receivers: IntArray


class Scratch(NamedTuple):
    """Room to work in, all zero between calls: changes of members and of senders, and lists of those changed."""

    change: FloatArray
    fit: FloatArray
    is_listed: BoolArray
    listed: IntArray
    gain: FloatArray
    is_touched: BoolArray
    touched: IntArray


@compiled
def receivers_of(source: IntArray, target: IntArray, outgoing: IntArray, receivers: IntArray) -> None:
    """List the receivers of every device by counting."""
    for l in range(source.size):
        outgoing[source[l] + 1] += 1
    for k in range(outgoing.size - 1):
        outgoing[k + 1] += outgoing[k]
    place = outgoing[:-1].copy()
    for l in range(source.size):
        receivers[place[source[l]]] = target[l]
        place[source[l]] += 1


@compiled
def _note(flag: BoolArray, entries: IntArray, n: int, i: int) -> int:
    """Append i to the list of n entries unless it is there; return the new length."""
    if flag[i]:
        return n
    flag[i] = True
    entries[n] = i
    return n + 1


@compiled
def _fitting(room: float, total: float) -> float:
    return 1.0 if total <= room else room / total


@compiled
def _claims_with(flows: Flows, state: State, l: int) -> tuple[float, float]:
    """The claims on the sender of link l if the link's target joins the set."""
    k = flows.source[l]
    return state.claims.weight[k] + flows.weight[l], state.claims.pace[k] + flows.pace[l]


@compiled
def _shift(flows: Flows, state: State, c: int, scratch: Scratch) -> int:
    """Find how much less each member receives if c joins, and what then fits; return how many members change."""
    n = 0
    for l in range(flows.incoming[c], flows.incoming[c + 1]):
        k = flows.source[l]
        if state.member[k]:
            continue
        W, M = _claims_with(flows, state, l)
        m = state.head[k]
        while m >= 0:
            i = flows.target[m]
            n = _note(scratch.is_listed, scratch.listed, n, i)
            scratch.change[i] += arriving(flows, m, W, M) - state.arrived[m]
            m = state.following[m]
    m = state.head[c]
    while m >= 0:
        i = flows.target[m]
        n = _note(scratch.is_listed, scratch.listed, n, i)
        scratch.change[i] -= state.arrived[m]
        m = state.following[m]
    for position in range(n):
        i = scratch.listed[position]
        # A member that was not full cannot become full: it only receives less. Rounding must not say so.
        scratch.fit[i] = 1.0 if state.fits[i] == 1.0 else _fitting(flows.room[i], state.received[i] + scratch.change[i])
    return n


@compiled
def _draw(flows: Flows, state: State, c: int, scratch: Scratch) -> int:
    """Add to `gain` what c would take from its senders, less what members lose; return how many senders change."""
    n = 0
    total = 0.0
    for l in range(flows.incoming[c], flows.incoming[c + 1]):
        k = flows.source[l]
        if not state.member[k]:
            W, M = _claims_with(flows, state, l)
            total += arriving(flows, l, W, M)
    fits = _fitting(flows.room[c], total)
    for l in range(flows.incoming[c], flows.incoming[c + 1]):
        k = flows.source[l]
        if state.member[k]:
            continue
        n = _note(scratch.is_touched, scratch.touched, n, k)
        W, M = _claims_with(flows, state, l)
        taken = fits * arriving(flows, l, W, M)
        m = state.head[k]
        while m >= 0:
            taken += scratch.fit[flows.target[m]] * (arriving(flows, m, W, M) - state.arrived[m])
            m = state.following[m]
        scratch.gain[k] += taken
    return n


@compiled
def _gain(flows: Flows, state: State, c: int, features: Features, scratch: Scratch, out: Sums) -> None:
    """Write what the set would gain with c, at c."""
    n_members = _shift(flows, state, c, scratch)
    n = _draw(flows, state, c, scratch)
    for position in range(n_members):
        i = scratch.listed[position]
        more = scratch.fit[i] - state.fits[i]
        if more != 0.0:
            for l in range(flows.incoming[i], flows.incoming[i + 1]):
                k = flows.source[l]
                if k != c and not state.member[k]:
                    n = _note(scratch.is_touched, scratch.touched, n, k)
                    scratch.gain[k] += more * state.arrived[l]
        scratch.change[i] = 0.0
        scratch.is_listed[i] = False
    n = _note(scratch.is_touched, scratch.touched, n, c)
    scratch.gain[c] = flows.data[c] - state.held[c]
    out.amount[c] = 0.0
    out.squares[c] = 0.0
    out.sums[c, :] = 0.0
    for position in range(n):
        k = scratch.touched[position]
        h = scratch.gain[k]
        out.amount[c] += h
        if features.weight.size > 0:
            out.squares[c] += features.weight[k] * h * (h + 2.0 * state.held[k])
        for column in range(features.rows.shape[1]):
            out.sums[c, column] += h * features.rows[k, column]
        scratch.gain[k] = 0.0
        scratch.is_touched[k] = False


@compiled
def renew(
    devices: IntArray, flows: Flows, state: State, features: Features, scratch: Scratch, out: Sums, effort: Effort
) -> int:
    """Compute the gains of `devices` anew, until time is over; return how many were computed."""
    for position in range(devices.size):
        if position % _AT_ONCE == 0 and is_over(effort):
            return position
        _gain(flows, state, devices[position], features, scratch, out)
        state.stale[devices[position]] = False
    return devices.size


@compiled
def tangents(base: float, slope: FloatArray, sums: FloatArray) -> FloatArray:
    """Value `base` + slope·sums of every row."""
    bounds = np.empty(sums.shape[0])
    for i in range(sums.shape[0]):
        bound = base
        for column in range(slope.size):
            bound += slope[column] * sums[i, column]
        bounds[i] = bound
    return bounds


@compiled
def _relink(flows: Flows, state: State, l: int) -> None:
    """List link l among its sender's links to members if it leads to one, else take it out; add up the claims."""
    k = flows.source[l]
    if state.member[flows.target[l]]:
        state.following[l] = state.head[k]
        state.head[k] = l
    elif state.head[k] == l:
        state.head[k] = state.following[l]
    else:
        m = state.head[k]
        while state.following[m] != l:
            m = state.following[m]
        state.following[m] = state.following[l]
    state.claims.weight[k] = 0.0
    state.claims.pace[k] = 0.0
    m = state.head[k]
    while m >= 0:
        state.claims.weight[k] += flows.weight[m]
        state.claims.pace[k] += flows.pace[m]
        m = state.following[m]


@compiled
def _send(flows: Flows, state: State, k: int, scratch: Scratch, n: int) -> int:
    """Compute anew what arrives from k at members, and list these after n others; return the length of the list."""
    m = state.head[k]
    while m >= 0:
        state.arrived[m] = 0.0 if state.member[k] else arriving(flows, m, state.claims.weight[k], state.claims.pace[k])
        n = _note(scratch.is_listed, scratch.listed, n, flows.target[m])
        m = state.following[m]
    return n


@compiled
def _mark_receivers(state: State, k: int) -> None:
    for place in range(state.outgoing[k], state.outgoing[k + 1]):
        state.stale[state.receivers[place]] = True


@compiled
def _mark_around(flows: Flows, state: State, i: int, scratch: Scratch, n: int) -> int:
    """Mark all devices whose gain depends on the full member i: its senders, and all that share them."""
    for l in range(flows.incoming[i], flows.incoming[i + 1]):
        k = flows.source[l]
        state.stale[k] = True
        if not scratch.is_touched[k]:
            n = _note(scratch.is_touched, scratch.touched, n, k)
            _mark_receivers(state, k)
    return n


@compiled
def toggle(p: int, flows: Flows, state: State, features: Features, scratch: Scratch) -> None:
    """Let p join the set, or leave it, and mark the devices whose gain changes."""
    joins = not state.member[p]
    state.member[p] = joins
    first, last = flows.incoming[p], flows.incoming[p + 1]
    n = 0
    for l in range(first, last):
        _relink(flows, state, l)
        state.arrived[l] = 0.0
        n = _send(flows, state, flows.source[l], scratch, n)
    n = _send(flows, state, p, scratch, n)
    if joins:
        n = _note(scratch.is_listed, scratch.listed, n, p)
    else:
        state.received[p] = 0.0
        state.fits[p] = 1.0
    n_touched = 0
    for position in range(n):
        i = scratch.listed[position]
        total = 0.0
        for l in range(flows.incoming[i], flows.incoming[i + 1]):
            total += state.arrived[l]
        before, state.received[i], state.fits[i] = state.fits[i], total, _fitting(flows.room[i], total)
        if before != 1.0 or state.fits[i] != 1.0:
            n_touched = _mark_around(flows, state, i, scratch, n_touched)
        scratch.is_listed[i] = False
    for l in range(first, last):
        k = flows.source[l]
        n_touched = _note(scratch.is_touched, scratch.touched, n_touched, k)
        _mark_receivers(state, k)
    n_touched = _note(scratch.is_touched, scratch.touched, n_touched, p)
    _mark_receivers(state, p)
    _hold(flows, state, features, scratch, n_touched)


@compiled
def _hold(flows: Flows, state: State, features: Features, scratch: Scratch, n: int) -> None:
    """Add up what the members hold of the touched devices' data; where squares count, mark all that depend on it."""
    for position in range(n):
        k = scratch.touched[position]
        held = 0.0
        m = state.head[k]
        while m >= 0:
            held += state.fits[flows.target[m]] * state.arrived[m]
            m = state.following[m]
        state.held[k] = held
        state.stale[k] = True
    last = n
    if features.weight.size > 0:
        for position in range(n):
            m = state.head[scratch.touched[position]]
            while m >= 0:
                if state.fits[flows.target[m]] != 1.0:
                    last = _mark_around(flows, state, flows.target[m], scratch, last)
                m = state.following[m]
    for position in range(last):
        scratch.is_touched[scratch.touched[position]] = False
