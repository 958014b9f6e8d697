"""The claims evaluated: their effects under every setting, from the curves of a results folder."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fedl_sim.paired import holm
from fedl_sim.reproduce.claims.catalogue import CLAIMS, Claim
from fedl_sim.reproduce.claims.contrasts import Effect, effect_of
from fedl_sim.reproduce.claims.curves import Curves, Panel, read_curves
from fedl_sim.reproduce.claims.sentences import sentence, verdict_of
from fedl_sim.reproduce.measures import target_of
from fedl_sim.reproduce.studies.resources import LEVELS, N_DEVICES, REFERENCE, SAMPLE_SIZE
from sampler.schemes import EVERYONE

__all__ = ["SETTINGS", "Evaluated", "claims_document", "evaluated"]

Evaluated = Mapping[str, Mapping[Claim, list[Effect]]]

# The folder of each setting's runs. Table I alone is run under other budgets too.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "paper": {"figures": "accuracy-tight", "table": "convergence-scarce"},
    "fair": {"figures": "accuracy-tight-fair", "table": "convergence-scarce-fair"},
    "tight": {"table": "convergence-tight"},
    "loose": {"table": "convergence-loose"},
}


def evaluated(results: Path) -> Evaluated:
    """Return the effects behind every claim by setting, p adjusted by Holm's method over the rivals of each claim."""
    return {setting: _evaluated(results, folders) for setting, folders in SETTINGS.items()}


def _evaluated(results: Path, folders: Mapping[str, str]) -> dict[Claim, list[Effect]]:
    sources: dict[str, Curves] = {}
    for source, folder in folders.items():
        path = results / folder / "curves.csv"
        sources[source] = read_curves(path) if path.exists() else Curves({})
    if "figures" in sources:
        sources["resources"] = sources["figures"].only(N_DEVICES, SAMPLE_SIZE)
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
    return [target_of(panel.data_set, np.array(reached))]


def claims_document(found: Evaluated) -> dict[str, Any]:
    """Return verdict, sentence and effects of every claim, by setting and name."""
    return {
        setting: {
            claim.name: {
                "said": claim.said,
                "verdict": verdict_of(claim, effects),
                "sentence": sentence(claim, setting, effects),
                "effects": [_plain(effect) for effect in effects],
            }
            for claim, effects in claims.items()
        }
        for setting, claims in found.items()
    }


def _plain(effect: Effect) -> dict[str, Any]:
    """Return an effect as JSON has it: rounded, without infinities."""
    fields = asdict(effect)
    contrast = fields.pop("contrast")
    numbers = {k: round(v, 4) if np.isfinite(v) else None for k, v in fields.items()}
    lists = {name: list(contrast[name] or ()) for name in ("added_to", "sample_sizes")}
    return {**contrast, **lists, **numbers}
