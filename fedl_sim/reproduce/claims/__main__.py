"""`python -m fedl_sim.reproduce.claims RESULTS`: write claims.json and its tables from the curves of a results folder.

Documents show the sentences between `<!-- claim: PATH#NAME/SETTING -->` and `<!-- end -->`
(`fedl_sim.reproduce.document`), so that none says more than its test.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fedl_sim.paired import holm
from fedl_sim.reproduce.claims.catalogue import CLAIMS, Claim
from fedl_sim.reproduce.claims.contrasts import Effect, effect_of
from fedl_sim.reproduce.claims.curves import Curves, Panel, read_curves
from fedl_sim.reproduce.claims.in_short import in_short, sentences_by_verdict
from fedl_sim.reproduce.claims.sentences import effect_text, number_text, sentence, verdict_of
from fedl_sim.reproduce.studies.convergence import SHARES
from fedl_sim.reproduce.studies.resources import LEVELS, REFERENCE
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["SETTINGS", "claims_document", "claims_tables", "evaluated", "main"]

# The folder of each setting's runs. Table I alone is run under other budgets too.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "paper": {"figures": "accuracy-tight", "table": "convergence-scarce"},
    "fair": {"figures": "accuracy-tight-fair", "table": "convergence-scarce-fair"},
    "tight": {"table": "convergence-tight"},
    "loose": {"table": "convergence-loose"},
}
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
_TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "claims": ("The claims and their tests", {"paper": "under the paper's setting", "fair": "under the fair one"}),
    "claims-budgets": (
        "Claims about Table I under other budgets, in the paper's setting",
        {"paper": "scarce budgets", "tight": "tight budgets", "loose": "loose budgets"},
    ),
}


def evaluated(results: Path, setting: str) -> dict[Claim, list[Effect]]:
    """Return the effects behind every claim, p adjusted by Holm's method over the rivals of each claim."""
    sources: dict[str, Curves] = {}
    for source, folder in SETTINGS[setting].items():
        path = results / folder / "curves.csv"
        sources[source] = read_curves(path) if path.exists() else Curves({})
    if "figures" in sources:
        sources["resources"] = sources["figures"].only(100, 5)
    found = {}
    for claim in CLAIMS:
        if claim.source not in sources:
            continue
        curves = sources[claim.source]
        targets = partial(_targets, curves, claim.source)
        effects = [effect_of(curves, contrast, targets) for contrast in claim.contrasts]
        there = [effect for effect in effects if effect is not None]
        raised = holm([effect.p_value for effect in there])
        found[claim] = [replace(effect, p_value=p) for effect, p in zip(there, raised, strict=True)]
    return found


def _targets(curves: Curves, source: str, panel: Panel) -> list[float]:
    if source == "resources":
        return [level * REFERENCE for level in LEVELS]
    reached = [curve.final for curve in curves.by_panel[panel].get(EVERYONE, {}).values()]
    return [SHARES[panel.data_set] * float(np.mean(reached))] if reached else [np.inf]


def claims_document(results: Path) -> dict[str, Any]:
    """Return verdict, sentence and effects of every claim, by setting and name."""
    return {
        setting: {
            claim.name: {
                "said": claim.said,
                "verdict": verdict_of(effects),
                "sentence": sentence(claim, effects),
                "effects": [_plain(effect) for effect in effects],
            }
            for claim, effects in evaluated(results, setting).items()
        }
        for setting in SETTINGS
    }


def _plain(effect: Effect) -> dict[str, Any]:
    """Return an effect as JSON has it: rounded, without infinities."""
    fields = asdict(effect)
    contrast = fields.pop("contrast")
    numbers = {k: round(v, 4) if np.isfinite(v) else None for k, v in fields.items()}
    return {**contrast, "added_to": list(effect.contrast.added_to or ()), **numbers}


def claims_tables(results: Path) -> tuple[Table, ...]:
    """Return every claim beside what is shown under some of the settings, and last ours by what is shown of them."""
    by_setting = {setting: evaluated(results, setting) for setting in SETTINGS}
    tables = []
    for name, (title, columns) in _TABLES.items():
        rows = [
            {"claim": claim.said, "by": "ours" if claim.ours else "paper"}
            | {column: _told(claim, by_setting[setting][claim]) for setting, column in columns.items()}
            for claim in CLAIMS
            if all(claim in by_setting[setting] for setting in columns)
        ]
        tables.append(Table(name, title, ("claim", "by", *columns.values()), tuple(rows), (_NOTE,)))
    return (*tables, in_short(by_setting))


def _told(claim: Claim, effects: Sequence[Effect]) -> str:
    told = "; ".join(filter(None, (*map(effect_text, effects), number_text(claim, effects))))
    return f"**{verdict_of(effects)}**" + (f": {told}" if told else "")


def main(results: Path) -> None:
    """Write the tables and the sentences."""
    for table in claims_tables(results):
        (results / f"{table.name}.md").write_text(table.markdown(), encoding="utf-8")
    for name, text in sentences_by_verdict({setting: evaluated(results, setting) for setting in SETTINGS}).items():
        (results / f"{name}.md").write_text(text, encoding="utf-8")
    text = json.dumps(claims_document(results), indent=1, ensure_ascii=False)
    (results / "claims.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
