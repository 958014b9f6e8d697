"""Sentences about claims that say what their tests allow, and no more: where, then what is not shown, then what is."""

from collections.abc import Sequence

from fedl_sim.reproduce.claims.catalogue import Claim
from fedl_sim.reproduce.claims.contrasts import FEW, Contrast, Effect
from fedl_sim.reproduce.compared import AGAIN, label_of
from sampler.schemes import EVERYONE

__all__ = ["NOT_RUN", "effect_text", "name_in_prose", "sentence", "verdict_of"]

NOT_RUN = "not run"
_PROSE = {
    "gcn_branch": "the paper's method (surrogate) without offloading",
    "gcn_branch_fedl": "the paper's method (FedL's loss) without offloading",
    "gcn_branch+fast": "the paper's method (surrogate)",
    "gcn_branch_fedl+fast": "the paper's method (FedL's loss)",
    "random": "random devices without offloading",
    "heuristic": "heuristic devices without offloading",
    "random-offload": "random devices with random offloading",
    "heuristic-offload": "heuristic devices with greedy offloading",
    "random_branch+fast": "the branch search with random scores",
    "ours": "the default method without offloading",
    "ours-offload": "the default method",
    "greedy:resemblance": "the default method without label counts and without offloading",
    "greedy:resemblance+fast": "the default method without label counts",
    AGAIN: "the default method with other random numbers",
    EVERYONE: "FedL on all nodes",
}
_SOURCES = {"table": "Table I", "figures": "Figs. 6 and 7", "resources": "Fig. 8"}
_BUDGETS = {"tight": "tight budgets", "loose": "loose budgets"}


def name_in_prose(arm: str) -> str:
    """Return what a sentence calls an arm."""
    return _PROSE.get(arm) or label_of(arm)


def _place_of(claim: Claim, setting: str) -> str:
    """Return where a claim is tested: the paper's table or figure, the setting, the budgets."""
    budgets = _BUDGETS.get(setting, "scarce budgets" if claim.source == "table" else "tight budgets")
    name = "the fair setting" if setting == "fair" else "the paper's setting"
    return f"{_SOURCES[claim.source]} in {name}, {budgets}"


def verdict_of(claim: Claim, effects: Sequence[Effect]) -> str:
    """Return the verdict on a claim: shown if every contrast is, contradicted if one is, not run if one is missing."""
    verdicts = [effect.verdict for effect in effects]
    if len(effects) < len(claim.contrasts):
        verdicts.append(NOT_RUN)
    for verdict in ("contradicted", NOT_RUN, "no test", "not shown", "indicated"):
        if verdict in verdicts:
            return verdict
    return "shown"


def effect_text(effect: Effect) -> str:
    """Return an effect for a table: mean, interval and p, and how often the target was reached if not always."""
    unit = "points" if effect.contrast.measure == "accuracy" else "%"
    text = f"{effect.mean:+.1f} {unit}"
    if effect.seeds < 2:
        return f"{text} on one seed"
    interval = f"[{effect.low:+.1f}, {effect.high:+.1f}]" if effect.low < effect.high else "on every seed"
    missed = min(effect.reached, effect.other_reached) < 1
    runs = f"; reached by {effect.reached:.0%} against {effect.other_reached:.0%} of runs" if missed else ""
    return f"{text} {interval}, {_p(effect)}{runs}"


def sentence(claim: Claim, setting: str, effects: Sequence[Effect]) -> str:
    """Return what may be said about a claim: first where it is worse or not shown, then where it is better."""
    parts = []
    for one in dict.fromkeys(contrast.one for contrast in claim.contrasts):
        contrasts = [contrast for contrast in claim.contrasts if contrast.one == one]
        parts += _parts(contrasts, [effect for effect in effects if effect.contrast.one == one])
    return f"{_place_of(claim, setting)}: {'. '.join(f'{part[0].upper()}{part[1:]}' for part in parts)}."


def _parts(contrasts: Sequence[Contrast], effects: Sequence[Effect]) -> list[str]:
    """Return what is known of one arm against its rivals."""
    by_verdict: dict[str, list[Effect]] = {}
    for effect in effects:
        by_verdict.setdefault(effect.verdict, []).append(effect)
    first = contrasts[0]
    subject = _subject(first)
    parts = []
    if worse := by_verdict.get("contradicted"):
        parts.append(f"{subject} {_relation(first, better=False)} {_list(worse)}")
    if unknown := by_verdict.get("not shown"):
        parts.append(f"no difference is shown between {subject} and {_list(unknown)}")
    if untested := by_verdict.get("no test"):
        parts.append(f"one seed is too few to compare {subject} with {_list(untested)}")
    if better := [*by_verdict.get("indicated", ()), *by_verdict.get("shown", ())]:
        parts.append(f"{subject} {_relation(first, better=True)} {_list(better)}")
    if missing := [contrast for contrast in contrasts if contrast not in {e.contrast for e in effects}]:
        parts.append(f"not run: {subject} against {' and '.join(map(_rival, missing))}")
    return parts


def _subject(contrast: Contrast) -> str:
    if contrast.added_to is None:
        return name_in_prose(contrast.one)
    return f"what offloading adds to {_sampler(contrast.added_to[0])}"


def _rival(contrast: Contrast) -> str:
    where = f" on {contrast.data_set}" if contrast.data_set else ""
    if contrast.added_to is None:
        return f"{name_in_prose(contrast.other)}{where}"
    return f"what it adds to {_sampler(contrast.added_to[1])}{where}"


def _sampler(arm: str) -> str:
    return name_in_prose(arm).removesuffix(" without offloading")


def _relation(contrast: Contrast, *, better: bool) -> str:
    many = contrast.added_to is None and name_in_prose(contrast.one).startswith(("random devices", "heuristic devices"))
    if contrast.measure == "accuracy":
        verb = "is" if contrast.added_to is not None else "end" if many else "ends"
        return f"{verb} {'above' if better else 'below'}"
    return f"{'need' if many else 'needs'} {'fewer' if better else 'more'} {contrast.measure} than"


def _list(effects: Sequence[Effect]) -> str:
    told = [f"{_rival(effect.contrast)} ({_numbers(effect)})" for effect in effects]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


def _numbers(effect: Effect) -> str:
    sign = "+" if effect.verdict == "not shown" else "-"
    unit = "points" if effect.contrast.measure == "accuracy" else "%"
    if effect.seeds < 2:
        return f"{effect.mean:+.1f} {unit}"
    mean, low, high = effect.mean, effect.low, effect.high
    if effect.verdict == "contradicted":
        mean, low, high = -mean, -high, -low
    interval = f"95 % interval {low:{sign}.1f} to {high:{sign}.1f}" if low < high else "the same on all seeds"
    few = f"only {effect.seeds} seeds" if effect.seeds < FEW else f"{effect.seeds} seeds"
    return f"{mean:{sign}.1f} {unit}, {interval}, {_p(effect)}, {few}"


def _p(effect: Effect) -> str:
    return "p < 0.001" if effect.p_value < 0.001 else f"p = {effect.p_value:.2g}"
