"""One step, start to finish: presolve, interior point, clean-up, certificate; and many steps in one call."""

import math

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.certificate import lower_bound_gap, measure
from solver.kernels.compile import compiled
from solver.kernels.interior_point import Point, drop_nonbasic, iterate, starting_point
from solver.kernels.layout import Reduced, Step
from solver.kernels.objective import gradient, terms
from solver.kernels.presolve import POOLED, SHARED, presolve
from solver.kernels.repair import shrink_to_fit, spent

__all__ = ["attempt_full", "finish", "finish_clean", "prepare", "solve_packed", "solve_step", "target_gap"]

# What clean-up may cost, relative to the objective: far below any tolerance asked for.
_CLEANUP_COST = 1e-11


@compiled
def _rows_of(first: int, last: int, role: IntArray, psi: FloatArray, B: float) -> tuple[int, int]:
    """How many links of a sender are shared, and whether it needs one row or two.

    Where ψ ≥ B on every link the budget row implies the share row, where ψ ≤ B on every link the other way round.
    """
    n_open = 0
    by_share = False
    by_budget = False
    for l in range(first, last):
        if role[l] == SHARED:
            n_open += 1
            if psi[l] < B:
                by_share = True
            elif psi[l] > B:
                by_budget = True
    return n_open, 2 if by_share and by_budget else 1


@compiled
def prepare(step: Step) -> Reduced:
    """Presolve and lay out the reduced problem: senders grouped by their number of rows, then of links."""
    offsets, receiver, a, psi = step.offsets, step.receiver, step.a, step.psi
    B, cap, data = step.B, step.cap, step.data
    n_links = a.size
    n_receivers = cap.size
    most = np.empty(n_links)
    role = np.empty(n_links, np.int64)
    free = np.empty(n_receivers)
    full = np.empty(n_receivers, np.bool_)
    n_shared = presolve(step, most, role, free, full)
    room = np.empty(n_receivers)
    base = np.empty(n_receivers)
    for i in range(n_receivers):
        pooled = min(free[i], cap[i])
        base[i] = data[i] + pooled
        room[i] = 0.0
    for l in range(n_links):
        if role[l] == SHARED:
            room[receiver[l]] += most[l]
    for i in range(n_receivers):
        # A cap far beyond all that could arrive would only cost digits. Receivers without shared links keep a harmless
        # positive room.
        room[i] = min(cap[i] - free[i], 2.0 * room[i]) if room[i] > 0.0 else 1.0
    links = np.empty(n_shared, np.int64)
    r_receiver = np.empty(n_shared, np.int64)
    u = np.empty(n_shared)
    c = np.empty(n_shared)
    d = np.empty(n_shared)

    # Sort senders into bins of equal (rows, links): sizes first, then positions.
    kinds = 2 * (n_receivers + 1)
    bin_of = np.empty(B.size, np.int64)
    size = np.zeros(kinds, np.int64)
    for k in range(B.size):
        n_open, rows = _rows_of(offsets[k], offsets[k + 1], role, psi, B[k])
        bin_of[k] = -1
        if n_open > 0:
            bin_of[k] = (rows - 1) * (n_receivers + 1) + n_open
            size[bin_of[k]] += 1
    n_groups = 0
    for kind in range(kinds):
        if size[kind] > 0:
            n_groups += 1
    groups = np.empty((n_groups, 5), np.int64)
    group_of = np.zeros(kinds, np.int64)
    t = 0
    k0 = 0
    l0 = 0
    for kind in range(kinds):
        if size[kind] > 0:
            n = kind % (n_receivers + 1)
            groups[t, 0] = k0
            groups[t, 1] = size[kind]
            groups[t, 2] = l0
            groups[t, 3] = n
            groups[t, 4] = 1 + kind // (n_receivers + 1)
            group_of[kind] = t
            k0 += size[kind]
            l0 += n * size[kind]
            t += 1
    placed = np.zeros(n_groups, np.int64)
    for k in range(B.size):
        if bin_of[k] >= 0:
            t = group_of[bin_of[k]]
            m = groups[t, 1]
            at = groups[t, 2] + placed[t]
            placed[t] += 1
            for l in range(offsets[k], offsets[k + 1]):
                if role[l] == SHARED:
                    i = receiver[l]
                    links[at] = l
                    r_receiver[at] = i
                    u[at] = min(most[l], room[i])
                    c[at] = u[at] / a[l]
                    d[at] = c[at] * psi[l] / B[k] if psi[l] > 0.0 else 0.0
                    if groups[t, 4] == 1:
                        c[at] = max(c[at], d[at])
                        d[at] = 0.0
                    at += m
    return Reduced(role, most, free, full, links, groups, r_receiver, u, c, d, room, base)


@compiled
def attempt_full(reduced: Reduced, s: FloatArray) -> bool:
    """Try to fill every receiver by handing out sender after sender; True if it worked.

    If R = cap can be reached it is optimal at once, and where budgets are loose this finds it without a single
    iteration. Each sender offers what it can in proportion to the room its receivers still have.
    """
    groups, receiver, room = reduced.groups, reduced.receiver, reduced.room
    u, c, d = reduced.u, reduced.c, reduced.d
    left = np.zeros(room.size)
    for l in range(u.size):
        left[receiver[l]] = room[receiver[l]]
    for t in range(groups.shape[0]):
        _, m, l0, n, _ = groups[t]
        for k in range(m):
            first = 0.0
            second = 0.0
            for j in range(n):
                l = l0 + j * m + k
                s[l] = min(left[receiver[l]] / u[l], 1.0)
                first += c[l] * s[l]
                second += d[l] * s[l]
            scale = 1.0 / max(first, second, 1.0)
            for j in range(n):
                l = l0 + j * m + k
                s[l] *= scale
                left[receiver[l]] = max(left[receiver[l]] - u[l] * s[l], 0.0)
    for i in range(room.size):
        if left[i] > 1e-13 * room[i]:
            return False
    return True


@compiled
def finish(step: Step, reduced: Reduced, s: FloatArray, mu: FloatArray, phi: FloatArray, R: FloatArray) -> float:
    """Turn the reduced iterate into fractions Φ and certify them; writes phi, R and mu.

    Fractions too small to matter become exact zeros, and what is then left of any sender's budget and any
    receiver's room is handed out: flow never hurts. Returns how far the objective can lie above the optimum.
    """
    offsets, receiver, a, psi = step.offsets, step.receiver, step.a, step.psi
    B, cap, data = step.B, step.cap, step.data
    role, links, u = reduced.role, reduced.links, reduced.u
    free, full, most = reduced.free, reduced.full, reduced.most
    n_links = a.size
    n_receivers = cap.size
    x = np.empty(n_receivers)
    g = np.empty(n_receivers)
    for l in range(n_links):
        phi[l] = 0.0
        if role[l] == POOLED:
            i = receiver[l]
            scale = 1.0 if free[i] <= cap[i] else cap[i] / free[i]
            phi[l] = most[l] / a[l] * scale
    for i in range(n_receivers):
        x[i] = data[i] + min(free[i], cap[i])
    for m in range(links.size):
        x[receiver[links[m]]] += u[m] * s[m]
    gradient(x, step.D_hat, step.G, step.gamma, g)
    sampling, statistical = terms(x, step.D_hat, step.G, step.gamma)
    negligible = _CLEANUP_COST * (sampling + statistical) / max(links.size, 1)
    left = np.empty(n_receivers)
    for m in range(links.size):
        l = links[m]
        if -g[receiver[l]] * u[m] * s[m] > negligible:
            phi[l] = u[m] * s[m] / a[l]
    # Rounding may have left the iterate a little outside.
    shrink_to_fit(step, phi, R)
    for i in range(n_receivers):
        left[i] = cap[i] - R[i]
    for k in range(B.size):
        share, budget = spent(offsets[k], offsets[k + 1], phi, psi)
        share = 1.0 - share
        budget = B[k] - budget
        for l in range(offsets[k], offsets[k + 1]):
            # Only links that carry something already: others would bring the small fractions back.
            if role[l] == SHARED and phi[l] > 0.0 and share > 0.0:
                i = receiver[l]
                more = min(share, left[i] / a[l])
                if psi[l] > 0.0:
                    more = min(more, max(budget, 0.0) / psi[l])
                phi[l] += more
                share -= more
                budget -= psi[l] * more
                left[i] = max(left[i] - more * a[l], 0.0)
    R[:] = 0.0
    for l in range(n_links):
        R[receiver[l]] += a[l] * phi[l]
    for i in range(n_receivers):
        x[i] = data[i] + R[i]
    gradient(x, step.D_hat, step.G, step.gamma, g)
    for i in range(n_receivers):
        # Where the room was cut down to what could arrive, the cap itself has no price.
        if not full[i] and reduced.room[i] < cap[i] - free[i]:
            mu[i] = 0.0
    return _best_gap(step, full, R, g, mu, 1e-10 * (sampling + statistical) / n_receivers)


@compiled
def _best_gap(step: Step, full: BoolArray, R: FloatArray, g: FloatArray, mu: FloatArray, negligible: float) -> float:
    """The gap the prices mu prove, or those with full receivers priced at −g_i if they prove more; writes mu.

    A full receiver's marginal datapoint is worth nothing, and the iterations know its price only to their tolerance.
    Full is also who has room left for a negligible gain only.
    """
    full_price = np.empty(R.size)
    all_full = True
    none_differs = True
    for i in range(R.size):
        if full[i]:
            mu[i] = -g[i]
        room = step.cap[i] - R[i]
        is_full = room <= 1e-9 * step.cap[i] or -g[i] * room <= negligible
        full_price[i] = -g[i] if is_full else mu[i]
        all_full = all_full and is_full
        none_differs = none_differs and full_price[i] == mu[i]
    gap = math.inf
    if not all_full:
        gap = lower_bound_gap(step, R, g, mu)
    if not none_differs or all_full:
        other = lower_bound_gap(step, R, g, full_price)
        if other < gap:
            gap = other
            mu[:] = full_price
    return max(gap, 0.0)


@compiled
def target_gap(step: Step, reduced: Reduced, tolerance: float) -> float:
    """The absolute gap that is surely below `tolerance` times the optimum: f at all that could ever arrive."""
    most = np.zeros(step.cap.size)
    for l in range(reduced.u.size):
        most[reduced.receiver[l]] += reduced.u[l]
    sampling, statistical = terms(reduced.base + np.minimum(most, reduced.room), step.D_hat, step.G, step.gamma)
    return tolerance * (sampling + statistical)


@compiled
def finish_clean(
    step: Step,
    reduced: Reduced,
    point: Point,
    s: FloatArray,
    target: float,
    mu: FloatArray,
    phi: FloatArray,
    R: FloatArray,
) -> float:
    """`finish` without the links that carry nothing at the optimum, unless leaving them out costs the proof."""
    clean = s.copy()
    drop_nonbasic(reduced, point, clean)
    prices = mu.copy()
    gap = finish(step, reduced, clean, mu, phi, R)
    if gap > target:
        mu[:] = prices
        gap = finish(step, reduced, s, mu, phi, R)
    return gap


@compiled
def solve_step(
    step: Step,
    theta: FloatArray,
    ceiling: FloatArray,
    tolerance: float,
    max_iterations: int,
    phi: FloatArray,
    R: FloatArray,
    mu: FloatArray,
) -> tuple[int, float, float, float, float]:
    """Solve one step to a relative gap of `tolerance` and measure the answer; writes phi, R and mu.

    Returns (iterations, a, b, gap, violation). All in one function: numba compiles callees into each caller.
    """
    mu[:] = 0.0
    reduced = prepare(step)
    n_links = reduced.links.size
    s = np.empty(n_links)
    iterations = 0
    if n_links == 0 or attempt_full(reduced, s):
        gap = finish(step, reduced, s, mu, phi, R)
    else:
        point = starting_point(step, reduced)
        target = target_gap(step, reduced, tolerance)
        iterations, _, _ = iterate(step, reduced, point, target, max_iterations, math.inf, s, mu)
        gap = finish_clean(step, reduced, point, s, target, mu, phi, R)
    sampling, statistical, violation = measure(step, theta, ceiling, phi, R)
    return iterations, sampling, statistical, gap, violation


@compiled
def solve_packed(
    senders: IntArray,
    links: IntArray,
    receivers: IntArray,
    packed: Step,
    D_hat: FloatArray,
    G: FloatArray,
    gamma: FloatArray,
    tolerance: float,
    max_iterations: int,
    theta: FloatArray,
    ceiling: FloatArray,
    phi: FloatArray,
    R: FloatArray,
    mu: FloatArray,
    figures: FloatArray,
) -> None:
    """Solve many steps laid end to end; problem j owns links[j]:links[j+1], and so for senders and receivers.

    Problem j's own offsets are packed.offsets[senders[j] + j : senders[j+1] + j + 1], counted from its first link
    (there is one more offset than senders in every problem). The scalars of `packed` are not read. Row j of `figures`
    becomes (iterations, a, b, gap, violation).
    """
    for j in range(G.size):
        k0, k1 = senders[j], senders[j + 1]
        l0, l1 = links[j], links[j + 1]
        i0, i1 = receivers[j], receivers[j + 1]
        step = Step(
            packed.offsets[k0 + j : k1 + j + 1],
            packed.receiver[l0:l1],
            packed.a[l0:l1],
            packed.psi[l0:l1],
            packed.B[k0:k1],
            packed.cap[i0:i1],
            packed.data[i0:i1],
            D_hat[j],
            G[j],
            gamma[j],
        )
        iterations, sampling, statistical, gap, violation = solve_step(
            step, theta[i0:i1], ceiling[i0:i1], tolerance, max_iterations, phi[l0:l1], R[i0:i1], mu[i0:i1]
        )
        figures[j, 0] = iterations
        figures[j, 1] = sampling
        figures[j, 2] = statistical
        figures[j, 3] = gap
        figures[j, 4] = violation
