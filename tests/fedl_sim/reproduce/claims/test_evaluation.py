"""Claims from curves made by hand, and the committed ones from the committed curves."""

import json
from pathlib import Path

import pytest

from fedl_sim.reproduce.claims.catalogue import CLAIMS
from fedl_sim.reproduce.claims.claim_tables import claim_tables
from fedl_sim.reproduce.claims.evaluation import SETTINGS, claims_document, evaluated
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
    assert "no difference between the default method and FedL on all nodes is shown" in str(
        found(tmp_path, "ours-above-all")["sentence"]
    ).lower().replace("fedl", "FedL")


def test_p_values_are_adjusted_over_the_rivals_of_a_claim(tmp_path: Path) -> None:
    seeds = range(6)
    ours = {(s, 5): 0.80 + 0.01 * (s % 3) for s in seeds}
    rivals = {
        arm: {(s, 5): ours[s, 5] - 0.05 - 0.08 * (s % 2) for s in seeds}
        for arm in ("gcn_branch+fast", "gcn_branch_fedl+fast", "random-offload", "heuristic-offload")
    }
    write_curves(
        tmp_path,
        "accuracy-tight",
        {"ours-offload": ours, **rivals, "all": {(s, 5): ours[s, 5] - 0.05 - 0.08 * (s % 2) for s in seeds}},
    )
    four = found(tmp_path, "ours-accuracy")
    alone = found(tmp_path, "ours-above-all")
    assert four["verdict"] == alone["verdict"] == "shown"
    p_four = [effect["p_value"] for effect in four["effects"]]  # type: ignore[attr-defined]
    p_alone = alone["effects"][0]["p_value"]  # type: ignore[index]
    assert p_four == pytest.approx([4 * p_alone] * 4, abs=4e-4)
    assert p_alone > 0.002
    assert "9.0 points above the paper's method trained on FedL's loss" in str(four["sentence"])


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
    assert found(tmp_path, "smart-most-accurate")["verdict"] == "contradicted"
    assert found(tmp_path, "ours-accuracy")["verdict"] == "indicated"
    assert found(tmp_path, "ours-above-all")["verdict"] == "no test"
    assert found(tmp_path, "gcn-scales")["verdict"] == "not run"
    assert found(tmp_path, "ours-accuracy", "fair")["verdict"] == "not run"


def test_a_target_that_is_missed_counts_as_one_aggregation_more(tmp_path: Path) -> None:
    seeds = range(5)
    finals = {"all": 0.8, "ours-offload": 1.4, "gcn_branch+fast": 0.5, "random_branch+fast": 0.7}
    write_curves(tmp_path, "convergence-scarce", {arm: {(s, 6): v for s in seeds} for arm, v in finals.items()})
    # The target is 0.68: ours reaches it with the first aggregation, the paper's method not within two.
    (effect,) = next(e for c, e in evaluated(tmp_path)["paper"].items() if c.name == "ours-aggregations")
    assert effect.mean == pytest.approx(100 * (1 - 1 / 3))
    # All seeds are equal, which is no certainty: 2 · ½⁵.
    assert effect.p_value == pytest.approx(1 / 16)
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
    (effect,) = next(e for c, e in evaluated(tmp_path)["paper"].items() if c.name == "gcn-scales")
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
    finals = {"all": 0.8, "ours-offload": 0.9, "gcn_branch+fast": 0.5}
    write_curves(tmp_path, "convergence-scarce", {arm: {(s, 6): v for s in range(6)} for arm, v in finals.items()})
    claim = found(tmp_path, "ours-aggregations")
    assert claim["verdict"] == "not run"
    assert str(claim["sentence"]).startswith("The default method needs 33.3 % fewer aggregations")
    assert str(claim["sentence"]).endswith("Not run yet: against the paper's method trained on FedL's loss.")


def test_ours_is_tested_against_both_labels_of_the_papers_gcn() -> None:
    for claim in CLAIMS:
        if claim.name.startswith("ours-"):
            rivals = {contrast.other for contrast in claim.contrasts}
            assert ("gcn_branch+fast" in rivals) == ("gcn_branch_fedl+fast" in rivals), claim.name


def test_the_papers_number_is_said_to_lie_inside_or_outside_the_intervals(tmp_path: Path) -> None:
    seeds = range(5)
    finals = {"all": 0.8, "gcn_branch+fast": 1.4, "random-offload": 0.5, "heuristic-offload": 0.5}
    write_curves(tmp_path, "convergence-scarce", {arm: {(s, 6): v for s in seeds} for arm, v in finals.items()})
    said = str(found(tmp_path, "smart-fastest-mnist")["sentence"])
    assert "+66.7 % of the aggregations (95 % interval +66.7 to +66.7, because all seeds gave the same value" in said
    assert said.endswith("The paper reports 40 %, which is outside both intervals.")
