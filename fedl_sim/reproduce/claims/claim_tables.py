"""The claims and their tests as tables: a line for a claim, and one for each rival if it has several."""

from collections.abc import Mapping, Sequence

from fedl_sim.reproduce.claims.catalogue import CLAIMS, Claim
from fedl_sim.reproduce.claims.contrasts import Contrast, Effect
from fedl_sim.reproduce.claims.evaluation import Evaluated
from fedl_sim.reproduce.claims.sentences import effect_text, number_text, verdict_of
from fedl_sim.reproduce.compared import label_of
from fedl_sim.reproduce.tables import Table

__all__ = ["claim_tables"]

_NOTE = (
    "The numbers are points of final accuracy, or the percentage of aggregations or datapoints that is saved until the "
    "target is reached. Square brackets have the 95 % interval. If a run misses the target, we count it as reached one "
    "aggregation after the last. The value of a network is the mean over S and over the draws of random sets, of the "
    "logarithm where something is saved. The value of a seed is the mean over its networks. "
    "p is from a t test over seeds, adjusted by Holm's method over the rivals of a claim. d is the mean "
    "divided by the standard deviation over seeds. Intervals are not adjusted, so that one may leave out 0 where p is "
    "above 0.05. Shown: p < 0.05 against every rival, with five seeds or more. Indicated: the same with fewer seeds. "
    "Contradicted: a rival is better with p < 0.05. The A/A rows show how large a difference chance alone makes. The "
    "paper's percentages of accuracy are read as points."
)
_SETTINGS = {"paper": "paper's setting", "fair": "fair setting"}
_BUDGETS = {"paper": "scarce budgets", "tight": "tight budgets", "loose": "loose budgets"}


def claim_tables(found: Evaluated) -> tuple[Table, ...]:
    """Return the paper's claims, those about ours, and both kinds under other budgets."""
    papers, ours = ([claim for claim in CLAIMS if claim.ours == mine] for mine in (False, True))
    about_table = [claim for claim in CLAIMS if claim.source == "table"]
    budgets = "Claims about Table I under other budgets, in the paper's setting"
    return (
        _table("claims", "The paper's claims and their tests", papers, _SETTINGS, found),
        _table("claims-ours", "Claims about ours, and their tests", ours, _SETTINGS, found),
        _table("claims-budgets", budgets, about_table, _BUDGETS, found),
    )


def _table(name: str, title: str, claims: Sequence[Claim], settings: Mapping[str, str], found: Evaluated) -> Table:
    rows = [
        {"claim": claim_cell} | dict(zip(settings.values(), cells, strict=True))
        for claim in claims
        for claim_cell, *cells in _lines(claim, [found[setting][claim] for setting in settings])
    ]
    return Table(name, title, ("claim", *settings.values()), tuple(rows), (_NOTE,))


def _lines(claim: Claim, by_setting: Sequence[Sequence[Effect]]) -> list[list[str]]:
    """Return the claim with its verdicts, then each of its rivals with the effects; one line if there is one rival."""
    verdicts = [_verdict(claim, effects) for effects in by_setting]
    if len(claim.contrasts) == 1:
        told = [": ".join([verdict, *map(effect_text, e)]) for verdict, e in zip(verdicts, by_setting, strict=True)]
        return [[_said(claim), *told]]
    return [[_said(claim), *verdicts], *(_against(contrast, by_setting) for contrast in claim.contrasts)]


def _against(contrast: Contrast, by_setting: Sequence[Sequence[Effect]]) -> list[str]:
    found = [next((effect for effect in effects if effect.contrast == contrast), None) for effects in by_setting]
    return [
        f"– against {label_of(contrast.other)}",
        *("–" if effect is None else effect_text(effect) for effect in found),
    ]


def _said(claim: Claim) -> str:
    return f"**{claim.said[0].upper()}{claim.said[1:]}**"


def _verdict(claim: Claim, effects: Sequence[Effect]) -> str:
    verdict = verdict_of(claim, effects)
    told = f"**{verdict}**" if verdict in {"shown", "contradicted"} else verdict
    number = number_text(claim, effects)
    return f"{told}; {number}" if number else told
