"""Claims from curves made by hand, and the committed ones from the committed curves."""

import json
from pathlib import Path

import pytest

from fedl_sim.reproduce.claims.catalogue import CLAIMS, FIGURE_RIVALS, OURS_CLAIMS, OWN_LABEL, PAPERS_CLAIMS, SURROGATE
from fedl_sim.reproduce.claims.claim_tables import claim_tables
from fedl_sim.reproduce.claims.effects import SETTINGS, claims_document, evaluated
from fedl_sim.reproduce.claims.in_short import in_short
from tests.support.curves import write_curve_rows, write_curves

ROOT = Path(__file__).parents[4]
RESULTS = ROOT / "docs" / "results"


def found(results: Path, name: str, setting: str = "paper") -> dict[str, object]:
    claim: dict[str, object] = claims_document(evaluated(results))[setting][name]
    return claim


def test_what_shares_a_seed_is_one_observation(tmp_path: Path) -> None:
    # Two seeds, three S and two N: twelve differences, all positive, but two observations.
    lead = {(0, 3): 0.10, (0, 4): 0.11, (0, 5): 0.12, (1, 3): 0.01, (1, 4): 0.02, (1, 5): 0.03}
    write_curves(
        tmp_path,
        "accuracy-tight",
        {"ours-offload": {k: 0.6 + d for k, d in lead.items()}, "all": dict.fromkeys(lead, 0.6)},
        sizes=(100, 200),
    )
    (effect,) = next(
        effects for claim, effects in evaluated(tmp_path)["paper"].items() if claim.name == "ours-above-all"
    )
    assert (effect.seeds, effect.networks) == (2, 4)
    assert effect.mean == pytest.approx(6.5)
    # t = 6.5 / 4.5 with one degree of freedom
    assert effect.p_value == pytest.approx(0.385, abs=0.001)
    assert found(tmp_path, "ours-above-all")["verdict"] == "not shown"


def test_p_values_are_adjusted_over_the_rivals_of_a_claim(tmp_path: Path) -> None:
    seeds = range(6)
    ours = {(s, 5): 0.80 + 0.01 * (s % 3) for s in seeds}
    other = {(s, 5): ours[s, 5] - 0.05 - 0.08 * (s % 2) for s in seeds}
    write_curves(
        tmp_path, "accuracy-tight", {"ours-offload": ours, "all": other, **dict.fromkeys(FIGURE_RIVALS, other)}
    )
    four = found(tmp_path, "ours-accuracy")
    alone = found(tmp_path, "ours-above-all")
    assert four["verdict"] == alone["verdict"] == "shown"
    p_four = [effect["p_value"] for effect in four["effects"]]  # type: ignore[attr-defined]
    p_alone = alone["effects"][0]["p_value"]  # type: ignore[index]
    assert p_four == pytest.approx([4 * p_alone] * 4, abs=4e-4)
    assert p_alone > 0.002


def test_a_claim_may_be_about_some_sample_sizes_alone(tmp_path: Path) -> None:
    smart = {(s, size): 0.6 + 0.1 * (size - 4) + 0.001 * s for s in range(6) for size in (3, 4, 5)}
    write_curves(tmp_path, "accuracy-tight", {"gcn_branch+fast": smart, "all": dict.fromkeys(smart, 0.6)})
    more, three = (found(tmp_path, f"few-above-all-{group}-gcn_branch") for group in ("more", "three"))
    assert more["effects"][0]["mean"] == pytest.approx(5.25)  # type: ignore[index]
    assert three["effects"][0]["mean"] == pytest.approx(-9.75)  # type: ignore[index]
    assert (more["verdict"], three["verdict"]) == ("shown", "contradicted")


def test_one_loss_contradicts_and_few_seeds_only_indicate(tmp_path: Path) -> None:
    seeds = range(3)
    smart = {(s, 5): 0.5 + 0.001 * s for s in seeds}
    write_curves(
        tmp_path,
        "accuracy-tight",
        {
            "gcn_branch+fast": smart,
            "gcn_branch_fedl+fast": {k: v + 0.05 + 0.0002 * k[0] for k, v in smart.items()},
            "random-offload": {k: v + 0.1 + 0.0001 * k[0] for k, v in smart.items()},
            "heuristic-offload": {k: v - 0.1 - 0.0001 * k[0] for k, v in smart.items()},
            "ours-offload": {k: v + 0.2 + 0.0003 * k[0] for k, v in smart.items()},
            "all": {(0, 5): 0.4},
        },
    )
    assert found(tmp_path, "smart-most-accurate-gcn_branch")["verdict"] == "contradicted"
    assert found(tmp_path, "ours-accuracy")["verdict"] == "indicated"
    assert found(tmp_path, "ours-above-all")["verdict"] == "no test"
    assert found(tmp_path, "gcn-scales-gcn_branch")["verdict"] == "not run"
    assert found(tmp_path, "ours-accuracy", "fair")["verdict"] == "not run"


def test_a_target_that_is_missed_counts_as_one_aggregation_more(tmp_path: Path) -> None:
    seeds = range(5)
    finals = {"all": 0.8, "ours-offload": 1.4, "gcn_branch+fast": 0.5, "random_branch+fast": 0.7}
    write_curves(tmp_path, "convergence-scarce", {arm: {(s, 6): v for s in seeds} for arm, v in finals.items()})
    # The target is 0.68: ours reaches it with the first aggregation, the paper's method not within two.
    effect, _ = next(e for c, e in evaluated(tmp_path)["paper"].items() if c.name == "ours-aggregations")
    assert effect.contrast.other == "gcn_branch+fast"
    assert effect.mean == pytest.approx(100 * (1 - 1 / 3))
    assert (effect.reached, effect.other_reached) == (1, 0)
    # All seeds are equal, which is no certainty: 2 · ½⁵, doubled for two rivals.
    assert effect.p_value == pytest.approx(2 / 16)
    assert effect.verdict == "not shown"


def test_each_draw_of_random_sets_has_a_cost_of_its_own(tmp_path: Path) -> None:
    # The target is 0.68. Of random_branch one draw reaches it with the first aggregation, the other with the second;
    # the mean of both curves would reach it with the first.
    curves = {
        ("all", 0): (0.1, 0.5, 0.8),
        ("gcn_branch+fast", 0): (0.1, 0.2, 0.9),
        ("random_branch+fast", 0): (0.1, 0.9, 0.9),
        ("random_branch+fast", 1): (0.1, 0.6, 0.9),
    }
    rows = [
        ("mnist", 700, 6, arm, seed, draw, k, accuracy, 10 * k)
        for seed in range(2)
        for (arm, draw), curve in curves.items()
        for k, accuracy in enumerate(curve)
    ]
    write_curve_rows(tmp_path, "convergence-scarce", rows)
    (effect,) = next(e for c, e in evaluated(tmp_path)["paper"].items() if c.name == "gcn-scales-gcn_branch")
    # log 2 of the paper's method against (log 1 + log 2)/2
    assert effect.mean == pytest.approx(100 * (1 - 2**0.5))


def test_the_committed_claims_follow_from_the_committed_curves() -> None:
    claims = evaluated(RESULTS)
    assert json.loads((RESULTS / "claims.json").read_text(encoding="utf-8")) == claims_document(claims)
    assert (RESULTS / "claims-in-short.md").read_text(encoding="utf-8") == in_short(claims)
    for table in claim_tables(claims):
        assert (RESULTS / f"{table.name}.md").read_text(encoding="utf-8") == table.markdown()


def test_names_are_unique_and_every_setting_has_all_that_its_runs_decide() -> None:
    names = [claim.name for claim in CLAIMS]
    assert len(set(names)) == len(names)
    document = claims_document(evaluated(RESULTS))
    assert set(document) == set(SETTINGS)
    assert set(document["paper"]) == set(document["fair"]) == set(names)
    about_the_table = {claim.name for claim in CLAIMS if claim.source == "table"}
    assert set(document["tight"]) == set(document["loose"]) == about_the_table


def test_a_claim_with_a_rival_that_has_not_run_is_not_shown(tmp_path: Path) -> None:
    ours = {(s, 5): 0.80 + 0.01 * (s % 3) for s in range(6)}
    rival = {key: end - 0.1 - 0.001 * key[0] for key, end in ours.items()}
    write_curves(tmp_path, "accuracy-tight", {"ours-offload": ours, "gcn_branch+fast": rival})
    claim = found(tmp_path, "ours-accuracy")
    assert [effect["p_value"] < 0.05 for effect in claim["effects"]] == [True]  # type: ignore[attr-defined]
    assert claim["verdict"] == "not run"
    assert found(tmp_path, "ours-above-all")["verdict"] == "not run"


def test_the_papers_claims_are_tested_with_both_labels_and_ours_against_both() -> None:
    own, surrogate = PAPERS_CLAIMS[OWN_LABEL], PAPERS_CLAIMS[SURROGATE]
    assert [claim.said for claim in own] == [claim.said for claim in surrogate]
    for one, other in zip(own, surrogate, strict=True):
        arms = {arm for contrast in one.contrasts for arm in contrast.arms}
        assert {arm.replace(OWN_LABEL, SURROGATE) for arm in arms} == {
            arm for contrast in other.contrasts for arm in contrast.arms
        }
        assert OWN_LABEL in {arm.removesuffix("+fast") for arm in arms}
    for claim in OURS_CLAIMS:
        rivals = {contrast.other for contrast in claim.contrasts}
        assert ("gcn_branch+fast" in rivals) == ("gcn_branch_fedl+fast" in rivals) or claim.name.startswith("own-label")
