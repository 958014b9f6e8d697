"""Sentences about claims that say what their test allows, and no more."""

from collections.abc import Sequence

from fedl_sim.reproduce.claims.catalogue import Claim
from fedl_sim.reproduce.claims.contrasts import FEW, Effect
from fedl_sim.reproduce.compared import AGAIN, label_of
from sampler.schemes import EVERYONE

__all__ = ["effect_text", "name_in_prose", "number_text", "sentence", "verdict_of"]

_PROSE = {
    "gcn_branch": "the paper's method without offloading",
    "gcn_branch+fast": "the paper's method trained on the surrogate",
    "gcn_branch_fedl+fast": "the paper's method trained on FedL's loss",
    "random": "random devices without offloading",
    "heuristic": "heuristic devices without offloading",
    "random-offload": "random devices with random offloading",
    "heuristic-offload": "heuristic devices with greedy offloading",
    "random_branch+fast": "the branch search with random scores",
    "ours-offload": "the default method",
    "greedy:resemblance+fast": "the default method without label counts",
    AGAIN: "the default method with other random numbers",
    EVERYONE: "FedL on all nodes",
}


def name_in_prose(arm: str) -> str:
    """Return what a sentence calls an arm."""
    return _PROSE.get(arm) or label_of(arm)


def verdict_of(claim: Claim, effects: Sequence[Effect]) -> str:
    """Return the verdict on a claim: shown if every contrast is, contradicted if one is, not run if one is missing."""
    verdicts = [effect.verdict for effect in effects]
    if len(effects) < len(claim.contrasts):
        verdicts.append("not run")
    for verdict in ("contradicted", "not run", "no test", "not shown", "indicated"):
        if verdict in verdicts:
            return verdict
    return "shown"


def effect_text(effect: Effect) -> str:
    """Return an effect for a table: mean, interval, effect size and p."""
    unit = "points" if effect.contrast.measure == "accuracy" else "%"
    if effect.seeds < 2:
        return f"{effect.mean:+.1f} {unit} on one seed"
    if effect.low == effect.high:
        return f"{effect.mean:+.1f} {unit} on every seed, {_p(effect)}"
    return f"{effect.mean:+.1f} {unit} [{effect.low:+.1f}, {effect.high:+.1f}], {_p(effect)}, d = {effect.size:.1f}"


def sentence(claim: Claim, effects: Sequence[Effect]) -> str:
    """Return what may be said about a claim: one sentence or two for each rival, and one about the paper's number."""
    if not effects:
        return f"Not run yet: {claim.said}."
    told = [_told(effect) for effect in effects]
    if missing := [contrast for contrast in claim.contrasts if contrast not in {e.contrast for e in effects}]:
        told.append(f"not run yet: against {' and '.join(name_in_prose(contrast.other) for contrast in missing)}.")
    if beside := number_text(claim, effects):
        told.append(f"{beside}.")
    return " ".join(f"{one[0].upper()}{one[1:]}" for one in told)


def number_text(claim: Claim, effects: Sequence[Effect]) -> str:
    """Return whether the paper's number lies in the intervals; nothing if it has none."""
    if claim.number is None or not effects:
        return ""
    unit = "points" if effects[0].contrast.measure == "accuracy" else "%"
    says = f"the paper reports {claim.number:g} {unit}"
    tested = [effect for effect in effects if effect.seeds > 1]
    inside = sum(effect.low <= claim.number <= effect.high for effect in tested)
    if not tested:
        return says
    if 0 < inside < len(tested):
        return f"{says}, which is inside {inside} of the {len(tested)} intervals"
    intervals = {1: "this interval", 2: "both intervals"}.get(len(tested), f"all {len(tested)} intervals")
    return f"{says}, which is {'inside' if inside else 'outside'} {intervals}"


def _told(effect: Effect) -> str:
    if effect.seeds < 2:
        return f"on the only seed that has runs of both, {_finding(effect)}. One seed is too few for a test."
    seeds = f"{'only ' if effect.seeds < FEW else ''}{effect.seeds} seeds, {_p(effect)}"
    if effect.verdict == "not shown":
        one, other, where = _rivals(effect)
        interval = _interval(effect.low, effect.high, "+")
        return f"no difference between {one} and {other}{where} is shown. {_mean(effect)} ({interval}; {seeds})."
    low, high = (effect.low, effect.high) if effect.mean > 0 else (-effect.high, -effect.low)
    return f"{_finding(effect)} ({_interval(low, high)}; {seeds})."


def _finding(effect: Effect) -> str:
    """Say by how much one arm is better or worse than the other."""
    one, other, where = _rivals(effect)
    measure, better, size = effect.contrast.measure, effect.mean > 0, abs(effect.mean)
    if measure == "accuracy":
        verb = "is" if effect.contrast.added_to is not None else "end" if _many(one) else "ends"
        return f"{one} {verb} {size:.1f} points {'above' if better else 'below'} {other}{where}"
    need = "need" if _many(one) else "needs"
    return f"{one} {need} {size:.1f} % {'fewer' if better else 'more'} {measure} than {other}{where}"


def _rivals(effect: Effect) -> tuple[str, str, str]:
    """Return the two arms in prose, and where they were compared."""
    contrast = effect.contrast
    one, other = name_in_prose(contrast.one), name_in_prose(contrast.other)
    if contrast.added_to is not None:
        one, other = f"what offloading adds to {one}", f"what it adds to {other}"
    return one, other, f" on {contrast.data_set}" if contrast.data_set else ""


def _mean(effect: Effect) -> str:
    if effect.contrast.measure == "accuracy":
        return f"The mean difference is {effect.mean:+.1f} points"
    return f"The mean saving is {effect.mean:+.1f} % of the {effect.contrast.measure}"


def _interval(low: float, high: float, sign: str = "-") -> str:
    interval = f"95 % interval {low:{sign}.1f} to {high:{sign}.1f}"
    return f"{interval}, because all seeds gave the same value" if low == high else interval


def _many(subject: str) -> bool:
    return subject.startswith(("random devices", "heuristic devices"))


def _p(effect: Effect) -> str:
    return "p < 0.001" if effect.p_value < 0.001 else f"p = {effect.p_value:.2g}"
