"""Findings of docs/model-card.md say what the committed results on held-out networks are."""

import json
from functools import cache
from typing import Any

from tests.support.committed import RESULTS, prose
from tests.support.documents import ROOT

CARD = ROOT / "docs" / "model-card.md"
SIZES = (3, 4, 5, 6)


@cache
def held_out() -> dict[tuple[str, bool, int], dict[str, Any]]:
    rows = json.loads((RESULTS / "samplers" / "held-out.json").read_text(encoding="utf-8"))["held_out"]
    return {(row["sampler"], row["label_counts"], row["sample_size"]): row for row in rows}


def differences(sampler: str, label: str, *, label_counts: bool = True) -> list[tuple[float, float]]:
    """To the branch search on random scores, with standard errors, by S; less is better."""
    rows = [held_out()[sampler, label_counts, size] for size in SIZES]
    return [(row[f"{label}_difference"], row[f"{label}_difference_error"]) for row in rows]


def test_a_gcn_that_learned_from_fedl_is_not_shown_to_beat_random_scores() -> None:
    assert "every difference is within two standard errors. Its validation loss" in prose(CARD)
    for label in ("fedl", "surrogate"):
        assert all(abs(mean) < 2 * error for mean, error in differences("gcn_branch_fedl", label))


def test_a_gcn_that_learned_from_the_surrogate_beats_random_scores_by_it() -> None:
    said = "by surrogate** at every S, and by more for larger S. By FedL loss every difference is within two"
    assert said in prose(CARD)
    gains = [-mean for mean, _ in differences("gcn_branch", "surrogate")]
    assert gains == sorted(gains)
    assert all(-mean > 3 * error for mean, error in differences("gcn_branch", "surrogate"))
    assert all(abs(mean) < 2 * error for mean, error in differences("gcn_branch", "fedl"))


def test_the_branch_search_helps_by_surrogate() -> None:
    assert (
        "The branch search itself helps by surrogate (its first pick has much data) and hardly by FedL loss."
        in prose(CARD)
    )
    assert all(mean > 2 * error for mean, error in differences("random", "surrogate"))
    assert all(0 < mean < 2 * error for mean, error in differences("random", "fedl"))


def test_gcn_rank_beats_random_scores_by_both() -> None:
    assert "With label counts the gain by FedL loss is two to three times what it is without them." in prose(CARD)
    for label in ("fedl", "surrogate"):
        for counts in (True, False):
            assert all(-mean > 2 * error for mean, error in differences("gcn_rank", label, label_counts=counts))
    pairs = zip(differences("gcn_rank", "fedl"), differences("gcn_rank", "fedl", label_counts=False), strict=True)
    assert all(2 < one / other < 3 for (one, _), (other, _) in pairs)


def test_how_many_networks_the_models_learned_from() -> None:
    page = prose(CARD)
    assert "So the models for one S learned from 1,000 and 2,000 networks" in page
    for label, count in (("fedl", 1000), ("surrogate", 2000)):
        for size in SIZES:
            weights = ROOT / "sampler" / "weights" / f"gcn-{label}-s{size}.json"
            assert f'"realisations": {count}' in weights.read_text(encoding="utf-8")
