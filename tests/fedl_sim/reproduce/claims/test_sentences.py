"""Sentences say where, first what is worse or not shown, then what is shown, and each number that the test has."""

import pytest

from fedl_sim.reproduce.claims.catalogue import CLAIMS, Claim
from fedl_sim.reproduce.claims.contrasts import Contrast, Effect
from fedl_sim.reproduce.claims.sentences import effect_text, sentence

BY_NAME = {claim.name: claim for claim in CLAIMS}
NUMBERS = ((-5.0, -9.0, -1.0, 0.02), (1.0, -1.0, 3.0, 0.3), (7.25, 5.0, 9.5, 0.0004))


def effects_of(claim: Claim, *numbers: tuple[float, float, float, float], seeds: int = 6) -> list[Effect]:
    return [Effect(contrast, *found, seeds, 12) for contrast, found in zip(claim.contrasts, numbers, strict=False)]


def test_a_sentence_begins_with_its_place_and_what_is_worse() -> None:
    claim = BY_NAME["ours-accuracy"]
    told = sentence(claim, "fair", effects_of(claim, *NUMBERS))
    assert told == (
        "Figs. 6 and 7 in the fair setting, tight budgets: "
        "The default method ends below the paper's method (FedL's loss) "
        "(5.0 points, 95 % interval 1.0 to 9.0, p = 0.02, 6 seeds). "
        "No difference is shown between the default method and the paper's method (surrogate) "
        "(+1.0 points, 95 % interval -1.0 to +3.0, p = 0.3, 6 seeds). "
        "The default method ends above random devices with random offloading "
        "(7.2 points, 95 % interval 5.0 to 9.5, p < 0.001, 6 seeds). "
        "Not run: the default method against heuristic devices with greedy offloading."
    )


def test_few_seeds_are_named_and_one_seed_is_no_test() -> None:
    claim = BY_NAME["ours-aggregations-mnist"]
    assert "only 3 seeds" in sentence(claim, "tight", effects_of(claim, *NUMBERS, seeds=3))
    alone = sentence(claim, "tight", effects_of(claim, (3.0, -float("inf"), float("inf"), 1.0), seeds=1))
    assert alone.startswith(
        "Table I in the paper's setting, tight budgets: One seed is too few to compare the default method with "
        "the paper's method (FedL's loss) on mnist (+3.0 %)."
    )


def test_arms_of_one_claim_have_sentences_of_their_own() -> None:
    claim = BY_NAME["offloading-speeds-up-gcn_branch"]
    told = sentence(claim, "paper", effects_of(claim, *[NUMBERS[2]] * 3))
    assert "The paper's method (surrogate) needs fewer aggregations than the paper's method (surrogate) without" in told
    assert "Random devices with random offloading need fewer aggregations than random devices without" in told


def test_what_offloading_adds_is_the_subject() -> None:
    claim = BY_NAME["offloading-adds-more-gcn_branch_fedl"]
    told = sentence(claim, "paper", effects_of(claim, NUMBERS[0], NUMBERS[2]))
    assert "What offloading adds to the paper's method (FedL's loss) is below what it adds to random devices" in told


@pytest.mark.parametrize(
    ("reached", "words"),
    [((1.0, 1.0), "p = 0.02"), ((1.0, 0.4), "p = 0.02; reached by 100% against 40% of runs")],
)
def test_a_table_says_how_often_a_target_was_missed(reached: tuple[float, float], words: str) -> None:
    contrast = Contrast("ours-offload", "gcn_branch+fast", "aggregations")
    assert effect_text(Effect(contrast, 5.0, 1.0, 9.0, 0.02, 6, 12, *reached)) == f"+5.0 % [+1.0, +9.0], {words}"
